// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of the parser and of expansion, including comparisons with bash, zsh and another parser.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "tests with helpers; skipped parts and measured shares are printed"
)]

mod accepted;
mod check;
mod constructs;
mod corpus;
mod coverage;
mod executed;
mod expansion;
mod generate;
mod hostile;
mod other_parser;
mod shells;
