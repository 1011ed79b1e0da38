// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The paths of a call: where they point, lexically and through symbolic links that a caller has read, and what is
//! done to them. This crate does no IO.

mod certainty;
mod file_op;
mod follow_links;
mod link_map;
mod overlap;
mod path;

pub use certainty::Certainty;
pub use file_op::FileOp;
pub use link_map::{EntryKind, LinkMap, PathWalk, WalkBudget};
pub use overlap::globs_overlap;
pub use path::{PathFact, PathLocation, PathRoots, WrittenPath, expand_tilde, resolve, strip_directory};
