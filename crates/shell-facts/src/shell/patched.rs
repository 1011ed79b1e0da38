// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Patches that a command gets on its input or among its words.

use super::super::effect::Touch;
use super::super::patch;
use super::Reader;
use super::scope::Scope;
use super::word::Word;

impl Reader<'_> {
    /// What a patch would do to files, if the command applies one that is known.
    pub(super) fn patched(&mut self, program: &str, words: &[Word], scope: &Scope) {
        let applies = match program {
            "apply_patch" | "applypatch" | "patch" | "gpatch" => true,
            "git" => words.iter().any(|word| word.is("apply") || word.is("am")),
            _ => false,
        };
        if !applies
            || words.iter().any(|word| word.is("--dry-run") || word.is("--check") || word.is("--stat"))
        {
            return;
        }
        let named = words.iter().filter(|word| word.text.starts_with("*** Begin Patch"));
        let mut texts: Vec<String> = named.map(|word| word.text.clone()).collect();
        texts.extend(scope.stdin.texts.iter().map(ToString::to_string));
        for text in texts {
            if !self.spend(1 + text.len() / 16) {
                return;
            }
            let patch = patch::read_patch(&text);
            if patch.cut {
                self.leave_unread("the patch names too many files", &text);
            }
            for file in patch.files {
                self.touched(&Touch::new(file.does, &Word::literal(&file.path)), program, scope);
                // How much of a name `patch` strips depends on its options.
                let aliases = file.aliases.iter().filter(|alias| program != "git" && !alias.usual);
                for alias in aliases {
                    self.touched(&Touch::new(file.does, &Word::literal(&alias.path)), program, scope);
                }
                if !file.added.is_empty() {
                    self.contents.push(file.added);
                }
            }
            if !patch.loose.is_empty() {
                self.contents.push(patch.loose);
            }
        }
    }
}
