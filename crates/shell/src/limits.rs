// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the limits of the parser and of expansion. Text beyond a limit becomes an
//! [`UnparsedText`](crate::UnparsedText) node or an unknown value; nothing is dropped silently.

/// Maximum length of a script. A longer script is not parsed; all of it is one [`UnparsedText`](crate::UnparsedText)
/// node.
pub const MAX_SOURCE_BYTES: usize = 4 << 20;

/// Maximum nesting depth of commands, words and expansions. The parser and recursive users of the tree fit in a stack
/// of 1 MiB at this depth, even without optimization.
pub const MAX_DEPTH: u32 = 48;

/// Maximum number of nodes of one text: commands, words and parts of words. The text after the last node is one
/// [`UnparsedText`](crate::UnparsedText) node.
pub const MAX_NODES: u32 = 100_000;

/// Maximum number of bytes that may be read more than once, as a multiple of the length of the text. Rereading happens
/// where the shell itself reads ahead: `((` that may be two subshells, here-document bodies, backticks with escapes.
pub const MAX_REREAD_FACTOR: usize = 4;

/// Number of bytes that may be read more than once, regardless of the length of the script.
pub const MIN_REREAD_BYTES: usize = 16 << 10;

/// Maximum number of fields that one word may expand to by brace expansion and field splitting.
pub const MAX_FIELDS: usize = 1024;

/// Maximum total size of the fields that one word expands to.
pub const MAX_EXPANSION_BYTES: usize = 64 << 10;

/// Maximum number of word parts that brace expansion may copy for one word.
pub const MAX_BRACE_PARTS: usize = 64 << 10;

/// Maximum number of steps of one expansion: bytes of values that are read, and steps of pattern matches. Values beyond
/// the limit are unknown.
pub const MAX_EXPANSION_STEPS: usize = 1_000_000;

/// Maximum number of variables that one expansion may assign (`${x:=a}`, `$((x++))`).
pub const MAX_ASSIGNED: usize = 256;
