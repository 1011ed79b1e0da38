// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Analyses the paths of a call: where they point, and which operations apply to them. Paths are resolved lexically,
//! and also through symbolic links that the caller has read. This crate does no I/O.

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
