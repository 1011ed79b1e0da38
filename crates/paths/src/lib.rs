// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Analyses the paths of a call: where they point, both lexically and through symbolic links that a caller has read,
//! and which operations apply to them. This crate does no IO.

mod certainty;
mod file_op;
mod follow_links;
mod link_map;
mod overlap;
mod path;
mod usual_case;

pub use certainty::Certainty;
pub use file_op::FileOp;
pub use link_map::{EntryKind, LinkMap, PathWalk, WalkBudget};
pub use overlap::globs_overlap;
pub use path::{PathFact, PathLocation, PathRoots, WrittenPath, expand_tilde, resolve, strip_directory};
