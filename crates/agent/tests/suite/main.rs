// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests the reference agent with the real engine.
#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod cancel;
mod every_event;
mod fixture;
mod gates;
mod hooks;
mod script;
mod tools;
