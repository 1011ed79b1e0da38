// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A fuzzer for everything that parses text.
//!
//! [`seeds`] provides valid texts, [`mutate`] changes them, and [`targets`] parse them. [`check`] checks each
//! result: no panic, no difference between two runs, and no more work than the length of the text allows.

pub mod check;
pub mod mutate;
pub mod random_choices;
pub mod seeds;
pub mod targets;
