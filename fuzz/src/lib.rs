// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts that nobody would write, against everything that reads texts.
//!
//! [`seeds`] are texts that mean something, [`mutate`] makes others of them, [`targets`] reads
//! them, and [`check`] says whether that went well: no panic, no text read differently the second
//! time, and no more work than the text's length allows.

pub mod chance;
pub mod check;
pub mod mutate;
pub mod seeds;
pub mod targets;
