// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The terminal view of a daemon, without a terminal and without a daemon.
//!
//! Whoever runs it tells it what happened ([`Message`]); [`update`] changes the [`State`] and says what is
//! to be fetched or done ([`Command`]); [`draw`] paints the state on whatever `ratatui` paints on. Nothing
//! here does IO or reads a clock.
//!
//! Most of what is shown was chosen by an agent. It comes in through `read`, which lets no character
//! pass that a terminal would obey or that makes text look like another ([`plain`]).

mod cursor;
mod input;
mod message;
pub mod plain;
mod prompt;
mod read;
mod state;
mod stats;
mod update;
mod view;

pub use input::Key;
pub use message::{Clock, Command, Deed, Message, Needs, Proof, RequestError, Scope, ShownCall, Subject};
pub use state::State;
pub use update::update;
pub use view::draw;
