// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The ledger over HTTP: find, follow, prove and verify, which read beside the writer; and what changes the
//! evidence, through the gate.

mod filter;
mod find;
mod handed_on;
mod key;
mod lines;
mod remove;
mod retention;
mod tail;
mod verify;

use super::route::{HeaderParameter, Route};
pub(crate) use verify::Verification;

const LAST_EVENT_ID: &[HeaderParameter] = &[HeaderParameter {
    name: "Last-Event-ID",
    kind: "integer",
    about: "number of the last record that was received",
}];

pub(super) fn routes() -> Vec<Route> {
    let mut routes = reading();
    routes.extend(changing());
    // Last: `{seq}` is any other word.
    routes.extend([
        Route::get("/v1/ledger/{seq}", "getLeaf", find::one)
            .about(
                "One record with its payload, by its number or its event's id; with its exact bytes, and the reply that \
                 its harness gets for it.",
            )
            .errors(&[404]),
        Route::get("/v1/ledger/{seq}/proof", "getProof", find::proof)
            .about("The proof that a record is in the ledger, as text (c2sp.org/tlog-proof@v1).")
            .errors(&[404]),
    ]);
    routes
}

fn reading() -> Vec<Route> {
    vec![
        Route::get("/v1/ledger", "queryLedger", find::query)
            .about("Records that match, newest first, a page at a time."),
        Route::get("/v1/ledger/lines", "lineLedger", lines::lines)
            .about("The same with each record in one line, and the number of all records."),
        Route::get("/v1/ledger/stats", "getLedgerStats", find::stats)
            .about("Statistics of the records that match, and of the ledger."),
        Route::get("/v1/ledger/tail", "tailLedger", tail::tail)
            .about(
                "Records as they are written, none left out: slow readers are caught up from the ledger. The id of each \
                 event is the number of the record, so that `Last-Event-ID` resumes a broken connection.",
            )
            .headers(LAST_EVENT_ID)
            .errors(&[503]),
        Route::get("/v1/ledger/checkpoint", "getCheckpoint", find::checkpoint)
            .about("The latest signed checkpoint. Kept elsewhere, it proves that nothing was removed since.")
            .errors(&[404]),
        Route::get("/v1/ledger/key", "getKey", key::show)
            .about("The key that signs, and whether it is sealed.")
            .errors(&[404]),
        Route::get("/v1/ledger/retention", "getRetention", retention::show)
            .about("How long records are kept: the limits that are configured, authorized and applied."),
        Route::get("/v1/ledger/verify", "getVerification", verify::status)
            .about("State or result of the last verification.")
            .errors(&[404]),
        Route::get("/v1/ledger/export", "exportLedger", handed_on::export).about(
            "The whole ledger as a file: `jsonl`, which `tenterhook ledger verify --file` checks, or `csv`, for people.",
        ),
        Route::get("/v1/ledger/report", "getReport", handed_on::report)
            .about("A report of a period or a session: one HTML file with charts and proofs."),
    ]
}

fn changing() -> Vec<Route> {
    vec![
        Route::post("/v1/ledger/checkpoint", "signCheckpoint", key::checkpoint)
            .about("Signs everything on record, including what hooks decided without the daemon."),
        Route::post("/v1/ledger/erase", "eraseLeaves", remove::erase)
            .about("Erases the payloads of records; the records stay, and it is recorded. Needs a proof of the user."),
        Route::post("/v1/ledger/prune", "pruneLedger", remove::prune)
            .about("Removes old records; their hashes stay, and it is recorded. Needs a proof of the user."),
        Route::put("/v1/ledger/retention", "setRetention", retention::set).about(
            "Sets how long records are kept. Limits that remove records earlier than before need a proof of the user.",
        ),
        Route::post("/v1/ledger/key/rotate", "rotateKey", key::rotate)
            .about("A new key signs from here on; both keys sign the record of it. Needs a proof of the user.")
            .errors(&[409]),
        Route::post("/v1/ledger/key/seal", "sealKey", key::seal)
            .about("Seals the key under a passphrase, which is accepted over the socket only.")
            .errors(&[422]),
        Route::post("/v1/ledger/key/unseal", "unsealKey", key::unseal)
            .about("Removes the passphrase of the key. Needs a proof of the user, and the passphrase over the socket.")
            .errors(&[422]),
        Route::post("/v1/ledger/verify", "verifyLedger", verify::begin)
            .about("Starts to verify the whole ledger, or returns the state of the verification that runs.")
            .status(202),
    ]
}
