// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The ledger over HTTP. Reading does not block the writer. Removing records is a privileged action.

mod export;
mod filter;
mod find;
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
    let mut routes = read_routes();
    routes.extend(change_routes());
    // Added last, because `{seq}` would match any other path segment too.
    routes.extend([
        Route::get("/v1/ledger/{seq}", "getLeaf", find::get_record)
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

fn read_routes() -> Vec<Route> {
    vec![
        Route::get("/v1/ledger", "queryLedger", find::query)
            .about("Records that match, newest first, a page at a time."),
        Route::get("/v1/ledger/lines", "lineLedger", lines::lines)
            .about("Records that match, each in one line, and the number of all records."),
        Route::get("/v1/ledger/calls", "listCalls", lines::calls).about(
            "Tool calls that match, newest first, a page at a time: one row for a call, its decision and its result.",
        ),
        Route::get("/v1/ledger/activity", "getActivity", lines::read_activity)
            .about("Decisions over time: counts by verdict, decision times, and the rules, harnesses and tools."),
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
            .about("The latest signed checkpoint. A copy that is stored elsewhere reveals a later rollback.")
            .errors(&[404]),
        Route::get("/v1/ledger/key", "getKey", key::show)
            .about("The public key that signs, and whether the private key is sealed.")
            .errors(&[404]),
        Route::get("/v1/ledger/retention", "getRetention", retention::show)
            .about("Retention of records: the limits that are configured, authorized and applied."),
        Route::get("/v1/ledger/verify", "getVerification", verify::status)
            .about("State or result of the last verification.")
            .errors(&[404]),
        Route::get("/v1/ledger/export", "exportLedger", export::export).about(
            "The whole ledger as a file: `jsonl`, which `tenterhook ledger verify --file` checks, or `csv` for spreadsheets.",
        ),
        Route::get("/v1/ledger/report", "getReport", export::report)
            .about("A report of a period or a session: one HTML file with charts and proofs."),
    ]
}

fn change_routes() -> Vec<Route> {
    vec![
        Route::post("/v1/ledger/checkpoint", "signCheckpoint", key::checkpoint)
            .about("Signs a checkpoint of all records, including decisions that hooks made without the daemon."),
        Route::post("/v1/ledger/erase", "eraseLeaves", remove::erase)
            .about("Erases the payloads of records. The records stay, and the removal is recorded. Needs a proof of the user."),
        Route::post("/v1/ledger/prune", "pruneLedger", remove::prune)
            .about("Removes old records. Their hashes stay, and the removal is recorded. Needs a proof of the user."),
        Route::put("/v1/ledger/retention", "setRetention", retention::set).about(
            "Sets how long records are kept. Limits that remove records earlier than before need a proof of the user.",
        ),
        Route::post("/v1/ledger/key/rotate", "rotateKey", key::rotate)
            .about("Replaces the signing key. Both keys sign the record of the change. Needs a proof of the user.")
            .errors(&[409]),
        Route::post("/v1/ledger/key/seal", "sealKey", key::seal)
            .about("Seals the private key with a passphrase, which is accepted over the Unix socket only.")
            .errors(&[422]),
        Route::post("/v1/ledger/key/unseal", "unsealKey", key::unseal)
            .about("Removes the passphrase of the private key. Needs a proof of the user, and the passphrase over the Unix socket.")
            .errors(&[422]),
        Route::post("/v1/ledger/verify", "verifyLedger", verify::begin)
            .about("Starts a verification of the whole ledger, or returns the state of the one that runs.")
            .status(202),
    ]
}
