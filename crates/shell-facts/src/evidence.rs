// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Locates the part of a call that a fact was derived from.

use serde::Serialize;

/// The part of a call's shell text that a fact was derived from. A command inside another one, such as the script of
/// `bash -c`, has the span of the outermost command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct TextSpan {
    /// Index of the text among the commands of the call.
    pub text: u32,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}
