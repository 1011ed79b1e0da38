// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What every command uses: the context, the terminal, confirmations, and options that several commands share.

pub mod browser;
pub mod confirm;
pub mod context;
pub mod env;
pub mod error;
pub mod profile_settings;
pub mod read_input;
pub mod rule_args;
pub mod run_until_signal;
pub mod terminal;
