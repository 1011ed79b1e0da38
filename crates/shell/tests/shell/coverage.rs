// SPDX-License-Identifier: Apache-2.0 OR MIT

//! No text is skipped silently: every byte belongs to a statement, a comment, a here-document or a separator.

use proptest::prelude::*;
use tenterhook_shell::{Dialect, ParseOptions, SimpleCommand, TreeVisitor, parse};

use crate::check::check;
use crate::corpus;

#[test]
fn no_byte_of_the_corpus_is_skipped() {
    for text in corpus::commands().iter().chain(&corpus::generated()) {
        for dialect in [Dialect::Bash, Dialect::Posix, Dialect::Zsh] {
            check(text, &parse(text, dialect));
        }
    }
}

/// Texts that once violated the rule.
const EARLIER_VIOLATIONS: &[&str] = &[
    "<<-E(\nE\n",
    "<<a\n$(<<a\n$(",
    "cat <<E; a ) b\n$(\nE\n",
    "cat <<E; if a\n$(\nE\nthen )",
    "(( i << 2 + 1 )) |& a\nb\n2\nc",
    "for l in a sh -c \"> /var/log/$l\"; done",
];

#[test]
fn no_byte_of_a_text_found_by_fuzzing_is_skipped() {
    for text in EARLIER_VIOLATIONS {
        for dialect in [Dialect::Bash, Dialect::Posix, Dialect::Zsh] {
            check(text, &parse(text, dialect));
        }
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b=",
        "'",
        "\"",
        "$",
        "`",
        "\\",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        "&",
        "|",
        ";",
        "\n",
        " ",
        "\t",
        "#",
        "!",
        "~",
        "*",
        "?",
        "=",
        "+",
        "-",
        ",",
        "..",
        "if ",
        "then ",
        "fi",
        "for x in ",
        "do ",
        "done",
        "case a in ",
        "esac",
        "while ",
        "function ",
        "time ",
        "coproc ",
        "[[ ",
        " ]]",
        "((",
        "))",
        "<<E",
        "\nE\n",
        "<<-E",
        "$(",
        "${x",
        ":-",
        "##",
        "é",
        "0",
        "2>",
        "in ",
        "select ",
        "EOF",
        "$'",
        "@(",
        "x=(",
        "\r",
        "select",
        "always ",
        "repeat 2 ",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_byte_of_any_text_is_skipped(text in pieces()) {
        for dialect in [Dialect::Bash, Dialect::Posix, Dialect::Zsh] {
            check(&text, &parse(&text, dialect));
            let options = ParseOptions { dialect, interactive: true };
            check(&text, &parse(&text, options));
        }
    }

    #[test]
    fn expansion_never_panics(text in pieces()) {
        use tenterhook_shell::expand::{Variables, expand};
        struct ExpandingVisitor(Variables);
        impl TreeVisitor for ExpandingVisitor {
            fn simple(&mut self, command: &SimpleCommand) {
                _ = expand(&command.words, &self.0);
            }
        }
        let mut known = Variables { arguments: Some(vec!["a b".to_owned(), "*".to_owned()]), ..Variables::default() };
        known.set("x", " a*b c ");
        ExpandingVisitor(known).script(&parse(&text, Dialect::Bash).script);
    }
}
