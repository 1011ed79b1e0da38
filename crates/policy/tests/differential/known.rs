// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where the readers are known to differ, each with its reason.

/// Commands, words or redirections that ours does not have as the other parser has them.
pub(crate) const MISSED: &[(&str, &str)] = &[];

/// Texts that bash takes for a script and ours does not.
pub(crate) const REFUSED: &[(&str, &str)] = &[];

/// Texts that ours takes for a script and bash does not.
pub(crate) const TAKEN: &[(&str, &str)] = &[];

/// Texts about which the other parser and bash differ.
pub(crate) const OTHER_PARSER: &[(&str, &str)] = &[];
