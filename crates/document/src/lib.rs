// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads configuration files into trees in which every node has its position.
//!
//! A file is first read into a [`Node`] and then, entry by entry, into types. An invalid entry is rejected with its
//! line and column. The other entries are used.
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

mod deserialize;
mod problem;
mod read_all;
mod tree;
pub mod yaml;

pub use deserialize::{Misfit, nearest, read};
pub use problem::{Problem, Spot};
pub use read_all::{ReadAll, read_all, repeated_keys};
pub use tree::{Node, Value, parse};
