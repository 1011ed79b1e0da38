// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Derives the effects of patches that a command applies from its standard input or its words.

use super::super::effect::OperandEffect;
use super::ShellReader;
use super::scope::ShellScope;
use super::word::ShellWord;

impl ShellReader<'_> {
    /// Adds the effects of patches that the command applies, if their text is known.
    pub(super) fn apply_patches(&mut self, program: &str, words: &[ShellWord], scope: &ShellScope) {
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
            if !self.spend_steps(1 + text.len() / 16) {
                return;
            }
            let patch = tenterhook_patch::read_patch(&text);
            if patch.cut {
                self.report_opaque("the patch names too many files", &text);
            }
            for file in patch.files {
                self.add_operand_effect(
                    &OperandEffect::new(file.does, &ShellWord::literal(&file.path)),
                    program,
                    scope,
                );
                // How many components of a name `patch` strips depends on its options.
                let aliases = file.aliases.iter().filter(|alias| program != "git" && !alias.usual);
                for alias in aliases {
                    self.add_operand_effect(
                        &OperandEffect::new(file.does, &ShellWord::literal(&alias.path)),
                        program,
                        scope,
                    );
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
