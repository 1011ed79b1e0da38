// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The record of every event and decision: a transparency log on one machine.
//!
//! Files by the life of a leaf. An [`Entry`] is what a caller wants recorded; it is sealed
//! (`entry`, `payload`, `bound`): secrets become marks, the payload gets a salted commitment. The
//! writer gives it a number and frames it (`record`), hashes it into the tree (`tree`), and commits
//! it with its neighbours (`store::append`). Checkpoints (`checkpoint`, `note`, `sign`) sign the
//! tree's root and go to sinks (`sink`). On the other side stand `query`, `stats`, `proof`,
//! `export` and `verify`, which shares nothing with the writer but the format.
//!
//! Without the feature `store` there is no SQLite: what remains checks exports and proofs.

mod bound;
mod chain;
pub mod checkpoint;
mod entry;
pub mod export;
mod hash;
mod identifier;
mod model_text;
pub mod note;
mod payload;
mod problem;
pub mod proof;
mod ranges;
mod record;
#[cfg(feature = "schema")]
mod schema;
mod sealed;
pub mod sign;
pub mod sink;
mod spool;
#[cfg(feature = "store")]
mod store;
pub mod tiles;
pub mod tree;
pub mod verify;

pub use entry::{Entry, Sealed, Sealing};
pub use hash::{HASH_BYTES, Hash, ParseHashError};
pub use identifier::secrets_in_identifier;
pub use note::VerifierKey;
pub use payload::{RedactionKey, Redactor};
pub use problem::{Place, Problem, Wrong};
pub use proof::LeafProof;
pub use record::{Envelope, FORMAT, Kind, MAX_ENVELOPE, Origin, PayloadMark, Stored, ToolMark};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use sealed::Cost;
pub use sign::{SignError, Signer, SoftwareKey};
pub use spool::SpoolError;
#[cfg(feature = "store")]
pub use store::*;
pub use verify::{Expect, Verified};
