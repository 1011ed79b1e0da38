// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The ledger over HTTP: find, follow, prove and verify, which read beside the writer; and what changes the
//! evidence, through the gate.

mod filter;
mod find;
mod handed_on;
mod key;
mod lines;
mod remove;
mod tail;
mod verify;

use axum::routing::on;

use super::route::{Gives, Query, Route, Takes, query};
pub(crate) use verify::Verification;

/// How leaves are narrowed down.
const FILTER: &[Query] = &[
    query("session", "string", "of this session of a harness"),
    query("harness", "string", "of this harness, such as claude-code"),
    query("tool", "string", "about this tool, as the harness names it"),
    query("verdict", "string", "none, allow, defer, ask or deny"),
    query("rule", "string", "decided by this rule"),
    query("kind", "string", "start, decision, change, erase, rotate or prune"),
    query("since", "string", "from then on: 15m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00:00Z"),
    query("until", "string", "before then"),
    query("text", "string", "with this text in the leaf or its payload"),
];

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/ledger", "queryLedger", |method| on(method, find::query))
        .about("Leaves that fit, newest first, a page at a time.")
        .query(&[
            FILTER,
            &[
                query("limit", "integer", "at most so many; 50 unless said, 1000 at most"),
                query("before", "integer", "only leaves before this one: the `next` of the page before"),
            ],
        ])
        .gives(Gives::Json("Leaves"))
        .refuses(&[400]),
    Route::get("/v1/ledger/lines", "lineLedger", |method| on(method, lines::lines))
        .about("The same, each leaf as one short line, and how many leaves there are in all.")
        .query(&[
            FILTER,
            &[
                query("limit", "integer", "at most so many; 100 unless said, 1000 at most"),
                query("before", "integer", "only leaves before this one: the `next` of the page before"),
            ],
        ])
        .gives(Gives::Json("Lines"))
        .refuses(&[400]),
    Route::get("/v1/ledger/stats", "getLedgerStats", |method| on(method, find::stats))
        .about("The leaves that fit, in numbers; and how the ledger itself stands.")
        .query(&[FILTER])
        .gives(Gives::Json("Stats"))
        .refuses(&[400]),
    Route::get("/v1/ledger/tail", "tailLedger", |method| on(method, tail::tail))
        .about(
            "Leaves as they are recorded, none left out: whoever reads slowly is caught up from the ledger. The id of \
             each event is the leaf's number, so that `Last-Event-ID` goes on where a connection broke.",
        )
        .query(&[FILTER, &[query("from", "integer", "begin with this leaf instead of the next one")]])
        .headers(&[query("Last-Event-ID", "integer", "the last leaf that was seen")])
        .gives(Gives::Stream("Record"))
        .refuses(&[400, 503]),
    Route::get("/v1/ledger/checkpoint", "getCheckpoint", |method| on(method, find::checkpoint))
        .about("The latest signed checkpoint. Kept elsewhere, it proves that nothing was taken away since.")
        .gives(Gives::Json("Checkpoint"))
        .refuses(&[404]),
    Route::post("/v1/ledger/checkpoint", "signCheckpoint", |method| on(method, key::checkpoint))
        .about("Signs all that is recorded, with what hooks decided by themselves.")
        .gives(Gives::Json("Signed")),
    Route::post("/v1/ledger/erase", "eraseLeaves", |method| on(method, remove::erase))
        .about("Erases the payloads of leaves; the leaves stay, and one says so. Needs a person's proof.")
        .takes(Takes::Json("EraseRequest"))
        .gives(Gives::Json("Removed"))
        .refuses(&[400, 403]),
    Route::post("/v1/ledger/prune", "pruneLedger", |method| on(method, remove::prune))
        .about("Removes old leaves; their hashes stay, and a leaf says so. Needs a person's proof.")
        .takes(Takes::Json("PruneRequest"))
        .gives(Gives::Json("Removed"))
        .refuses(&[400, 403]),
    Route::get("/v1/ledger/key", "getKey", |method| on(method, key::show))
        .about("Who signs, and whether the key is sealed.")
        .gives(Gives::Json("Key"))
        .refuses(&[404]),
    Route::post("/v1/ledger/key/rotate", "rotateKey", |method| on(method, key::rotate))
        .about("A new key signs from here on; both keys sign the leaf that says so. Needs a person's proof.")
        .takes(Takes::Json("RotateRequest"))
        .gives(Gives::Json("Rotated"))
        .refuses(&[400, 403, 409]),
    Route::post("/v1/ledger/key/seal", "sealKey", |method| on(method, key::seal))
        .about("Seals the key under a passphrase, which is taken over the socket only.")
        .takes(Takes::Json("SealRequest"))
        .gives(Gives::Json("Sealed"))
        .refuses(&[400, 403, 422]),
    Route::post("/v1/ledger/key/unseal", "unsealKey", |method| on(method, key::unseal))
        .about("Lets the key lie open again. Needs a person's proof, and the passphrase over the socket.")
        .takes(Takes::Json("SealRequest"))
        .gives(Gives::Json("Sealed"))
        .refuses(&[400, 403, 422]),
    Route::post("/v1/ledger/verify", "verifyLedger", |method| on(method, verify::begin))
        .about("Begins to check all of the ledger, or says how the check under way stands.")
        .takes(Takes::Json("VerifyRequest"))
        .status(202)
        .gives(Gives::Json("Verification"))
        .refuses(&[400]),
    Route::get("/v1/ledger/verify", "getVerification", |method| on(method, verify::status))
        .about("How the last check stands, or how it ended.")
        .gives(Gives::Json("Verification"))
        .refuses(&[404]),
    Route::get("/v1/ledger/export", "exportLedger", |method| on(method, handed_on::export))
        .about("All of the ledger as a file: `jsonl`, which `tenterhook ledger verify --file` checks, or `csv`, for people.")
        .query(&[&[query("format", "string", "jsonl or csv")]])
        .gives(Gives::Text("application/jsonl"))
        .refuses(&[400]),
    Route::get("/v1/ledger/report", "getReport", |method| on(method, handed_on::report))
        .about("A report of a period or a session: one HTML file with charts and proofs, to save and hand on.")
        .query(&[&[
            query("since", "string", "from then on: 24h, 7d, 2026-11-15"),
            query("session", "string", "of this session of a harness"),
        ]])
        .gives(Gives::Text("text/html"))
        .refuses(&[400]),
    Route::get("/v1/ledger/{seq}", "getLeaf", |method| on(method, find::one))
        .about(
            "One leaf with its payload, by its number or its event's id; as it stands in the ledger, to the byte, and \
             with the reply that its harness gets for it.",
        )
        .gives(Gives::Json("Leaf"))
        .refuses(&[404]),
    Route::get("/v1/ledger/{seq}/proof", "getProof", |method| on(method, find::proof))
        .about("The proof that a leaf is in the ledger, as a text of its own (c2sp.org/tlog-proof@v1).")
        .gives(Gives::Text("text/plain"))
        .refuses(&[404]),
];
