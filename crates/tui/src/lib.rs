// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The terminal view of the daemon: state, updates and drawing, without I/O and without a clock.
//!
//! The caller passes messages ([`TuiMessage`]) to [`update`], which changes the [`TuiState`] and returns what the
//! caller must fetch or do ([`TuiCommand`]). [`draw`] draws the state on a `ratatui` frame.
//!
//! Agents choose most of the shown text. All text passes through `parse`, which replaces control characters and
//! characters that hide or reorder other characters ([`plain`]).

mod decision_stats;
mod input_prompt;
mod key_press;
mod list_cursor;
mod message;
mod parse;
pub mod plain;
mod state;
mod update;
mod view;

pub use key_press::KeyPress;
pub use message::{
    ApproveFor, ExplainSubject, FetchTarget, GivenProof, ListedCalls, MouseAction, MouseInput, ProofNeeded,
    RequestError, ShownCall, ShownRule, ShownSnapshot, TuiCommand, TuiMessage, UserAction, WallClock,
};
pub use state::TuiState;
pub use update::update;
pub use view::draw;
