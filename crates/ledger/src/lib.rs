// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The ledger: a transparency log of every event and decision on one machine. Each record is a leaf of a Merkle tree.
//!
//! A caller passes a [`LedgerEntry`]. It is sealed first (`entry`, `payload`, `field_limits`): secrets are replaced
//! by placeholders, and the payload gets a salted commitment. The writer numbers the entry (`envelope`), hashes it
//! into the tree (`tree`) and commits it (`store::writer`). Checkpoints (`checkpoint`, `note`, `sign`) sign the
//! tree's root and are published to sinks (`sink`). The ledger is read by `query`, `stats`, `proof`, `export` and
//! `verify`. The verifier shares only the format with the writer.
//!
//! Without the feature `store`, the crate does not include SQLite and only checks exports and proofs.

pub mod checkpoint;
mod entry;
mod envelope;
pub mod export;
mod field_limits;
mod hash;
mod identifier;
mod key_chain;
mod leaf_ranges;
mod model_text;
pub mod note;
mod payload;
mod problem;
pub mod proof;
#[cfg(feature = "schema")]
mod schema;
mod sealed_key;
pub mod sign;
pub mod sink;
mod spool;
#[cfg(feature = "store")]
mod store;
pub mod tiles;
pub mod tree;
pub mod verify;

pub use entry::{LedgerEntry, SealedEntry, SealingOptions};
pub use envelope::{
    ENVELOPE_VERSION, Envelope, LeafKind, LeafOrigin, MAX_ENVELOPE_BYTES, PayloadMark, PayloadStorage,
    ToolMark,
};
pub use hash::{HASH_BYTES, Hash, ParseHashError};
pub use identifier::secrets_in_identifier;
pub use key_chain::rotated_key;
pub use note::VerifierKey;
pub use payload::{RedactionKey, Redactor};
pub use problem::{Defect, LogProblem, ProblemLocation};
pub use proof::LeafProof;
#[cfg(feature = "schema")]
pub use schema::schema;
pub use sealed_key::Argon2Cost;
pub use sign::{SignError, Signer, SoftwareKey};
pub use spool::SpoolError;
#[cfg(feature = "store")]
pub use store::*;
pub use verify::{Expectations, VerifiedLog};
