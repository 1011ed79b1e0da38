// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The reference agent, through the real engine.
#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod cancel;
mod common;
mod gates;
mod hooks;
mod script;
mod tools;
mod walk;
