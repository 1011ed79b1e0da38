// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Fuzzes shell text in every dialect: the tree covers every byte, and expansion never panics.

#![no_main]

#[path = "../../../crates/shell/tests/shell/check.rs"]
mod check;

use libfuzzer_sys::fuzz_target;
use tenterhook_shell::expand::{Variables, expand, expand_each, expand_value};
use tenterhook_shell::{
    Dialect, ParseOptions, SimpleCommand, TreeVisitor, outline, parse, reads_alike, walk_simple,
};

/// Expands the words of every command.
struct Expand(Variables);

impl TreeVisitor for Expand {
    fn simple(&mut self, command: &SimpleCommand) {
        let expansion = expand(&command.words, &self.0);
        assert!(expansion.fields.len() <= 1024);
        _ = expand_each(&command.words, &self.0);
        for word in &command.words {
            _ = expand_value(&word.parts, &self.0);
        }
        walk_simple(self, command);
    }
}

fuzz_target!(|text: &str| {
    for dialect in [Dialect::Bash, Dialect::Posix, Dialect::Zsh] {
        for interactive in [false, true] {
            let parsed = parse(text, ParseOptions { dialect, interactive });
            check::check(text, &parsed);
            let arguments = Some(vec!["a b".to_owned(), "*".to_owned()]);
            let mut known = Variables { dialect, arguments, ..Variables::default() };
            known.set("x", " a*b c ");
            known.set("a", "1");
            Expand(known).script(&parsed.script);
        }
    }
    let bash = parse(text, Dialect::Bash);
    if bash.is_complete() && reads_alike(text) {
        let zsh = parse(text, Dialect::Zsh);
        assert!(bash == zsh, "{}\n{}", outline(&bash), outline(&zsh));
    }
});
