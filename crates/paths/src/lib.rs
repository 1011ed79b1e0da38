// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The paths of a call: where they point, by their letters and by the links that a caller saw, and what is done to
//! them. Nothing here looks at a disk.

mod certainty;
mod file_operation;
mod links;
mod overlap;
mod path;
mod seen;

pub use certainty::Certainty;
pub use file_operation::Does;
pub use overlap::overlap;
pub use path::{Found, Ground, PathFact, Place, below, expand_tilde, resolve};
pub use seen::{Seen, Sight, Steps, Way};
