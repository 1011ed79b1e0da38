// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Known differences between the parsers, each with its reason.

/// Commands, words or redirections that our parser reads differently without reporting the text as unparsed.
pub(crate) const READ_DIFFERENTLY: &[(&str, &str)] = &[];

/// Texts that bash accepts and our parser does not; rules ask about them.
pub(crate) const REFUSED_BY_US: &[(&str, &str)] = &[
    ("t232", "what `rev` gets may be run as well, for all that is known, and that is no script"),
    ("t256", "what `zcat` prints is not known"),
];

/// Texts that our parser accepts and bash does not.
pub(crate) const ACCEPTED_BY_US_ONLY: &[(&str, &str)] =
    &[("g1094 g1398", "a subshell at the start of `$(…)` without a space between them")];

/// Texts on which the other parser and bash differ.
pub(crate) const OTHER_PARSER_DIFFERS: &[(&str, &str)] = &[];

/// One example of each form that the underlying grammar lacks; such forms are rewritten before they are parsed.
pub(crate) const REWRITTEN_FORMS: &[&str] = &[
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
