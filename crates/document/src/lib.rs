// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Configuration files as trees in which every node knows its place.
//!
//! A file is read into a [`Node`] first and into types second, entry by entry, so that one entry
//! that does not fit is refused alone, with line and column, and the others stand.
//!
//! ```
//! use tenterhook_document::{Value, parse, read};
//!
//! #[derive(serde::Deserialize)]
//! struct Hook { id: String }
//!
//! let tree = parse("hooks:\n  - id: a\n  - od: b\n").map_err(|(_, message)| message)?;
//! let Some(Value::List(hooks)) = tree.get("hooks").map(|node| &node.value) else { panic!() };
//! let read: Vec<_> = hooks.iter().map(read::<Hook>).collect();
//! assert_eq!(read[0].as_ref().unwrap().id, "a");
//! assert_eq!(read[1].as_ref().err().unwrap().spot.line, 3);
//! # Ok::<(), String>(())
//! ```

mod collect;
mod problem;
mod tree;
mod typed;
pub mod yaml;

pub use collect::{ReadAll, read_all, repeated_keys};
pub use problem::{Problem, Spot};
pub use tree::{Node, Value, parse};
pub use typed::{Misfit, nearest, read};
