// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where the readers are known to differ, each with its reason.

/// Commands, words or redirections that ours does not have as the other parser has them, without
/// saying that it did not understand.
pub(crate) const MISSED: &[(&str, &str)] = &[];

/// Texts that bash takes for a script and ours does not; the rules ask about them.
pub(crate) const REFUSED: &[(&str, &str)] = &[
    ("t232", "what `rev` gets may be run as well, for all that is known, and that is no script"),
    ("t256", "what `zcat` prints is not known"),
];

/// Texts that ours takes for a script and bash does not.
pub(crate) const TAKEN: &[(&str, &str)] =
    &[("g1094 g1398", "a subshell at the start of `$(…)` without a space between them")];

/// Texts about which the other parser and bash differ.
pub(crate) const OTHER_PARSER: &[(&str, &str)] = &[];

/// One of each form that the grammar beneath ours does not have; they are written anew before it reads them.
pub(crate) const FORMS: &[&str] = &[
    "exec 3<>f",
    "for v in; do a; done",
    "a <<E; b\ntext\nE\n",
    "a <<E & b\ntext\nE\n",
    "( a <<E )\ntext\nE\n",
    "! for x in a; do b c; done",
    "! { b c; }",
    "! while a; do b c; done",
    "! if a; then b c; fi",
    "if ! { a b; }; then c; fi",
    "time { b c; }",
    "time for x in a; do b c; done",
    "coproc { b c; }",
    "coproc S { b c; }",
    "f() { a; } > r; f",
    "a - <<E\ntext\nE\n",
    "a b <<E\n\\x\nE\n",
    "a >& f 0>&1",
    "ls|sort|uniq|cat\nrm x >y\n",
    "ls|sort|uniq|grep b\ncp a b 2>&1\n",
    "echo a > b\n\\rm x\n",
    "a && b 2>&1\n\\rm x\n",
    "a <<< x\n\\cp b c\n",
];
