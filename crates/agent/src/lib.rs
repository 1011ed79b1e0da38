// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The reference agent: a small real agent loop that fires every event there is.
//!
//! [`turn`](Session::prompt) is the loop. Everything it is about to do is told through [`Fire`] first, and
//! everything that comes back is honoured: a tool runs with the arguments that hooks left it, the model
//! reads what hooks let it read, and nothing runs at all when nobody could decide.
//!
//! | file | what |
//! |---|---|
//! | `session.rs` | what an agent is made of and what a session remembers |
//! | `turn.rs` | the loop: prompt, model, tools, stop |
//! | `model.rs` | one answer of the model: tool selection, request, answer |
//! | `call.rs`, `permission.rs` | one tool call |
//! | `context.rs` | warning and compaction |
//! | `tell.rs`, `wire.rs` | events, in the words of hooks |
//! | `tools/`, `provider/` | what it can do, and whom it asks |

mod call;
mod cancel;
mod context;
mod fire;
pub mod mcp;
mod model;
mod permission;
pub mod provider;
mod session;
mod tell;
pub mod tools;
mod turn;
mod watch;
mod wire;

pub use call::Result as ToolResult;
pub use cancel::Cancel;
pub use fire::{Fire, FireError};
pub use permission::{Answer, Ask, NobodyAnswers, PermissionMode, Question};
pub use session::{Agent, Mint, Prices, Session, Settings};
pub use turn::{Ended, STOP_BLOCKS};
pub use watch::{Moment, NobodyWatches, Watch};
