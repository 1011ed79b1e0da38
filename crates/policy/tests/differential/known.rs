// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where the readers are known to differ, each with its reason.

/// Commands, words or redirections that ours does not have as the other parser has them, without
/// saying that it did not understand.
pub(crate) const MISSED: &[(&str, &str)] = &[
    (
        "t006 t018 t118 t189 t240 t284 t320 t360 t486 t497 t504 t535",
        "the word `-` before a here-document is lost",
    ),
    ("t088", "the target of `>& FILE` before another redirection is lost"),
    ("t097", "`coproc NAME {`"),
    ("t466", "a document that begins with a backslash"),
    (
        "g487 g791 g937 g984 g1242 g1263 g1273 g1628 g1638 g1862 g1870",
        "a function defined in a function that nobody calls",
    ),
    (
        "g10 g194 g196 g242 g269 g315 g371 g378 g412 g466 g554 g561 g565 g590 g645 g695 g739 g806 \
         g831 g906 g964 g993 g1013 g1022 g1044 g1088 g1155 g1180 g1214 g1259 g1275 g1314 g1361 \
         g1374 g1414 g1444 g1470 g1514 g1615 g1737 g1759 g1778 g1850 g1860 g1956 g1961 g1964",
        "the grammar loses the end of a line after pipes or redirections",
    ),
];

/// Texts that bash takes for a script and ours does not; the rules ask about them.
pub(crate) const REFUSED: &[(&str, &str)] = &[("g1359 t086 t123 t232 t256 t357", "not in the grammar")];

/// Texts that ours takes for a script and bash does not.
pub(crate) const TAKEN: &[(&str, &str)] = &[];

/// Texts about which the other parser and bash differ.
pub(crate) const OTHER_PARSER: &[(&str, &str)] = &[];

/// What ours makes of one of each form that its grammar does not have: refused, or read otherwise.
pub(crate) const GAPS: &[(&str, Gap)] = &[
    ("exec 3<>f", Gap::Refused),
    ("for v in; do a; done", Gap::Refused),
    ("a <<E; b\ntext\nE\n", Gap::Refused),
    ("a <<E & b\ntext\nE\n", Gap::Refused),
    ("( a <<E )\ntext\nE\n", Gap::Refused),
    ("! for x in a; do b c; done", Gap::Missed),
    ("! { b c; }", Gap::Missed),
    ("! while a; do b c; done", Gap::Missed),
    ("! if a; then b c; fi", Gap::Missed),
    ("if ! { a b; }; then c; fi", Gap::Missed),
    ("time { b c; }", Gap::Missed),
    ("time for x in a; do b c; done", Gap::Missed),
    ("coproc { b c; }", Gap::Missed),
    ("coproc S { b c; }", Gap::Missed),
    ("f() { a; } > r; f", Gap::Missed),
    ("a - <<E\ntext\nE\n", Gap::Missed),
    ("a b <<E\n\\x\nE\n", Gap::Missed),
    ("a >& f 0>&1", Gap::Missed),
    ("ls|sort|uniq|cat\nrm x >y\n", Gap::Missed),
    ("ls|sort|uniq|grep b\ncp a b 2>&1\n", Gap::Missed),
    ("echo a > b\n\\rm x\n", Gap::Missed),
    ("a && b 2>&1\n\\rm x\n", Gap::Missed),
    ("a <<< x\n\\cp b c\n", Gap::Missed),
];

/// What ours makes of a form that it does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    /// It says so.
    Refused,
    /// It reads something else, and does not say so.
    Missed,
}
