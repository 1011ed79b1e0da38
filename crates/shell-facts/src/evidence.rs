// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which part of a call a fact comes from.

use serde::Serialize;

/// The part of a call's shell text that a fact was read from. What runs inside another command, such as the script
/// of `bash -c`, has the span of the outermost command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct TextSpan {
    /// Number of the text among the commands of the call; the first is 0.
    pub text: u32,
    /// First byte.
    pub start: u32,
    /// First byte after it.
    pub end: u32,
}
