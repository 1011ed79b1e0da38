// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Applies the effects of code in other languages where the code runs.

use tenterhook_code_facts::{self as code, CallArgument, CodeEffect, CodeLanguage, CodeSign};
use tenterhook_paths::expand_tilde;

use super::super::effect::OperandEffect;
use super::ShellReader;
use super::scope::ShellScope;
use super::word::ShellWord;

/// Placeholder in shell text for a value that is only known at run time.
const UNKNOWN_VALUE: &str = "${__unknown__}";

impl ShellReader<'_> {
    /// Reads code that the command at index `own` runs; returns its effects.
    pub(super) fn read_code(
        &mut self,
        language: CodeLanguage,
        text: &str,
        program: &str,
        own: Option<usize>,
        scope: &ShellScope,
    ) -> Vec<CodeEffect> {
        if !self.spend_steps(1 + text.len() / 16) || !self.enter_level() {
            return Vec::new();
        }
        let acts = code::read_code(language, text);
        self.apply_acts(&acts, text, program, own, scope);
        acts
    }

    /// Reads code that the command at index `own` runs by its literals and well-known calls. Effects of a kind that
    /// another reader has found are left out.
    pub(super) fn read_literals(
        &mut self,
        text: &str,
        known: &[CodeEffect],
        program: &str,
        own: Option<usize>,
        scope: &ShellScope,
    ) {
        if !self.spend_steps(1 + text.len() / 16) || !self.enter_level() {
            return;
        }
        let mut acts = code::read_literals(text);
        acts.retain(|act| !known.iter().any(|known| is_same_kind(act, known)));
        self.apply_acts(&acts, text, program, own, scope);
    }

    fn apply_acts(
        &mut self,
        acts: &[CodeEffect],
        text: &str,
        program: &str,
        own: Option<usize>,
        scope: &ShellScope,
    ) {
        // Reported once, because it concerns the whole text.
        if acts.contains(&CodeEffect::RunsUnknown) {
            self.report_unread("it runs code that cannot be read", text);
        }
        for act in acts {
            if !self.spend_steps(1) {
                break;
            }
            self.apply_act(act, text, program, own, scope);
        }
        self.leave_level();
    }

    fn apply_act(
        &mut self,
        act: &CodeEffect,
        text: &str,
        program: &str,
        own: Option<usize>,
        scope: &ShellScope,
    ) {
        match act {
            CodeEffect::Shell(text) => {
                let text =
                    if text.known { text.shape.clone() } else { text.shape.replace('*', UNKNOWN_VALUE) };
                self.read_text(&text, &mut scope.started_by(program));
            }
            CodeEffect::Start(words) => {
                let words: Vec<_> = words.iter().map(|word| argument_to_word(word, scope)).collect();
                self.run_words(&words, &mut scope.started_by(program));
            }
            CodeEffect::File { does, path, recursive } => {
                let mut word = argument_to_word(path, scope);
                // Code that filters file names deletes some of them, not all.
                if let Some(start) =
                    word.shape.strip_suffix('*').filter(|_| path.pattern && code::filters_files(text))
                {
                    let start = start.trim_end_matches('*').to_owned();
                    word.shape = format!("{start}…");
                }
                let requested = OperandEffect::new(*does, &word).recursive(*recursive);
                self.add_operand_effect(&requested, program, scope);
            }
            CodeEffect::Connect(address) => self.connects.push(address.shape.clone()),
            CodeEffect::RunsFetched => {
                self.mark_act(own, "runs-fetched");
                self.mark_act(own, "code-runs-fetched");
            }
            CodeEffect::ShellRunsFetched => self.mark_act(own, "shell-runs-fetched"),
            CodeEffect::RunsInput => self.mark_fed(&scope.stdin.from.clone(), ""),
            CodeEffect::RunsUnknown => {}
            CodeEffect::ReverseShell => self.mark_act(own, "reverse-shell"),
            CodeEffect::Unread => self.report_opaque("it is more code than is read", text),
        }
    }

    /// Marks the command at index `own` with the signs of danger in its code.
    pub(super) fn mark_signs(&mut self, text: &str, own: Option<usize>) {
        for sign in code::find_signs(text) {
            let act = match sign {
                CodeSign::RunsFetched => "runs-fetched",
                CodeSign::SendsCredential => "sends-credential",
                CodeSign::EncryptsFiles => "encrypts-files",
            };
            self.mark_act(own, act);
        }
    }

    /// Reads code that a tool runs itself, without a command.
    pub(super) fn read_tool_code(&mut self, tool: &str, code: &str, scope: &ShellScope) {
        let languages: Vec<_> = languages_of_tool(tool).collect();
        // If the tool's name reveals the language, the reader of that language finds the effects of known functions.
        // Unknown functions matter only if they may receive a path.
        if languages.len() != 1 || ["'/", "\"/", "`/", "~/"].iter().any(|start| code.contains(start)) {
            self.report_unread("it is code in another language", code);
        }
        let start = (self.effects.len(), self.commands.len());
        for language in languages {
            self.read_code(language, code, tool, None, scope);
            // Stop at the first language that finds something.
            if start != (self.effects.len(), self.commands.len()) {
                return;
            }
        }
    }
}

/// Whether two effects are of the same kind.
fn is_same_kind(act: &CodeEffect, other: &CodeEffect) -> bool {
    match (act, other) {
        (CodeEffect::Shell(_), CodeEffect::Shell(_) | CodeEffect::Start(_))
        | (CodeEffect::Connect(_), CodeEffect::Connect(_)) => true,
        (CodeEffect::File { does, .. }, CodeEffect::File { does: other, .. }) => does == other,
        _ => false,
    }
}

/// Returns the code reader for a language, if there is one.
pub(super) fn code_reader(language: tenterhook_programs::Language) -> Option<CodeLanguage> {
    CodeLanguage::from_name(language.name())
}

/// Returns the languages that a tool may run, guessed from its name.
fn languages_of_tool(tool: &str) -> impl Iterator<Item = CodeLanguage> {
    let name = tool.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let names: &[&str] = if says(&["python", "jupyter", "notebook", "blender"]) {
        &["python"]
    } else if says(&[
        "javascript",
        "node",
        "typescript",
        "browser",
        "_js",
        "js_",
        "deno",
        "evaluate",
        "playwright",
        "puppeteer",
    ]) {
        &["javascript"]
    } else if says(&["ruby"]) {
        &["ruby"]
    } else if says(&["php"]) {
        &["php"]
    } else {
        &["python", "javascript"]
    };
    names.iter().filter_map(|name| CodeLanguage::from_name(name))
}

fn argument_to_word(argument: &CallArgument, scope: &ShellScope) -> ShellWord {
    let home = &scope.site.roots.home;
    let shape = expand_tilde(&argument.shape, home).unwrap_or_else(|| argument.shape.clone());
    ShellWord {
        text: shape.clone(),
        shape,
        dynamic: !argument.known,
        pattern: argument.pattern,
        may_be_option: !argument.known && argument.shape.starts_with('*'),
        ..ShellWord::default()
    }
}
