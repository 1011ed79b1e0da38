// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A language that exists only as a description.

use super::super::CodeLanguage;
use super::{check_language, read_code};

const TCL_LIKE: &str = r#"
lexical:
  line-comments: [";;"]
  block-comments: [{ open: "(*", close: "*)" }]
  line-breaks: always
  sigils: ["%"]
  end-of-code: [STOP]
  quotes:
    - { open: '"', expands: true }
    - { open: "'", kind: shell }
  delimited-quotes: [{ open: raw, escapes: few }]
  here-documents: { open: "<<" }
  expansion: sigils
  expanded-sigils: ["%"]
  expanded-indices: []
syntax:
  prefix-words: [let]
  member-signs: ["::"]
  bare-arguments: true
names: { prefixes: [["core.", ""]] }
operators: { "~": concatenate }
constants: { HOME: home }
calls:
  erase: delete-tree 0..
  fs.put: write 1
  shell.run: shell 0
  slurp: read 0 -> file 0
  fetch: connect 0 -> network
  interpret: eval 0
  up: -> reverse
"#;

#[test]
fn a_language_is_added_by_describing_it() {
    check_language(
        CodeLanguage::from_description(TCL_LIKE),
        &[
            ("erase HOME", "delete! ~"),
            ("erase \"a\", raw(/b)", "delete! a; delete! /b"),
            ("let %d = \"/etc\"\nerase \"%d/x\"", "delete! /etc/x"),
            ("fs::put(1, HOME ~ \"/.profile\")", "write ~/.profile"),
            ("core::erase(up(\"cte/\"))", "delete! /etc"),
            ("'rm -rf /'", "shell rm -rf /"),
            ("%x = <<END\nrm -rf %HOME\nEND\nshell::run(%x)", "shell rm -rf *\n?"),
            ("interpret(fetch(\"http://x.io\"))", "connect http://x.io; runs-fetched"),
            ("interpret(slurp(\"x\"))", "read x; run x"),
            (";; erase \"a\"\n(* erase \"b\" *) let x = \"erase\"\nSTOP\nerase \"c\"", ""),
        ],
    );
}

#[test]
fn an_empty_description_reads_any_text() {
    let language = CodeLanguage::from_description("reader: generic");
    for text in ["", "\"", "a(", "f(g[h{", "$x = 1; // y", "<<A\n", "q(", "ü'"] {
        read_code(language, text);
    }
}
