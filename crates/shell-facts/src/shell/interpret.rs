// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What an interpreter would run: a text, its input, or a file that the same line has written.

use tenterhook_code_facts::without_patterns;
use tenterhook_paths::{Does, PathFact, resolve};
use tenterhook_programs::Language;

use super::super::described_command::DescribedCommand;
use super::Reader;
use super::code::readable;
use super::command::ShellCommand;
use super::interpreter::{Script, language_of, runs_its_input, runs_what_it_fetches, script};
use super::invoke::multiplies;
use super::scope::Scope;
use super::typed::TYPED_PROGRAM;
use super::word::{Word, merge};

impl Reader<'_> {
    /// Reads what an interpreter would run; false if the program is not one, or runs nothing by itself.
    pub(super) fn interpret(
        &mut self,
        described: &DescribedCommand<'_>,
        program: &str,
        scope: &Scope,
    ) -> bool {
        let Some((language, script)) = script(described) else { return false };
        self.run_script(language, script, program, scope);
        true
    }

    fn run_script(&mut self, language: Language, script: Script<'_>, program: &str, scope: &Scope) {
        let mut inner = scope.through(program);
        let own = self.commands.len().checked_sub(1);
        let (texts, from) = match script {
            Script::Stdin => {
                // The script has used up the input; what it starts gets what is left of it.
                inner.stdin.texts.clear();
                let read =
                    own.and_then(|own| self.commands.get(own)).is_some_and(|own| !own.inputs.is_empty());
                if language == Language::Shell
                    && scope.stdin.from.is_empty()
                    && scope.stdin.texts.is_empty()
                    && !read
                {
                    self.mark(own, "interactive");
                }
                self.mark_typed_program(own, scope);
                self.hidden(language, scope);
                inner.stdin.typed = false;
                (scope.stdin.texts.clone(), scope.stdin.from.clone())
            }
            Script::Text(text, arguments) => {
                inner = inner.with_arguments(arguments.get(1..).unwrap_or_default());
                if let Some(name) = arguments.first().filter(|name| name.pattern || name.text.contains('/')) {
                    inner.set("0", name.to_value());
                }
                let mut from = text.from.clone();
                self.mark_if_typed(own, &from);
                // `xargs -I{} sh -c '{}'` runs its input, too.
                if scope.via.last().is_some_and(|via| via == "xargs") && text.dynamic {
                    merge(&mut from, &scope.stdin.from);
                }
                // What stands behind the program's name is an argument of what the text runs.
                if language == Language::Shell && !text.opens && text.dynamic && is_argument(&text) {
                    self.feed(&from, "");
                    from.clear();
                }
                (vec![text.text.as_str().into()], from)
            }
            Script::File(file) if file.process => {
                self.mark_if_typed(own, &file.from);
                (self.texts_of(&file.from), file.from.clone())
            }
            Script::File(file) if self.is_terminal(&file.text, scope) => {
                return self.mark(own, TYPED_PROGRAM);
            }
            // `deno run https://…`
            Script::File(file) if file.text.starts_with("https://") || file.text.starts_with("http://") => {
                return self.invoke(std::slice::from_ref(file), &mut inner);
            }
            Script::File(file) => {
                self.touch(Does::Run, file, program, scope);
                return self.run_file(&file.text, program, scope);
            }
            Script::Nothing => return,
        };
        self.feed(&from, program);
        for text in texts {
            match language {
                Language::Shell => self.text(&text, &mut inner.clone()),
                _ => self.other_language(language, program, &text, own, scope),
            }
        }
    }

    /// A shell whose input was packed or enciphered runs what nobody can see.
    fn hidden(&mut self, language: Language, scope: &Scope) {
        let packed = |command: &&ShellCommand| {
            let has = |option: &str| command.words.iter().any(|word| word.is(option));
            match command.program.as_str() {
                "gunzip" | "zcat" | "gzcat" | "xzcat" | "unxz" | "bzcat" | "bunzip2" | "zstdcat"
                | "unzstd" => true,
                "gzip" | "xz" | "bzip2" | "zstd" | "lzma" => {
                    has("-d") || has("-dc") || has("-cd") || has("--decompress")
                }
                "openssl" => has("enc") && !has("-base64") && !has("-a"),
                "gpg" | "gpg2" | "age" => has("-d") || has("--decrypt"),
                _ => false,
            }
        };
        let mut sources = scope.stdin.from.iter().filter_map(|index| self.commands.get(*index));
        if language == Language::Shell && sources.any(|command| packed(&command)) {
            self.leave_unread("it is packed or enciphered", "");
        }
    }

    fn other_language(
        &mut self,
        language: Language,
        program: &str,
        text: &str,
        own: Option<usize>,
        scope: &Scope,
    ) {
        self.scripted(program, text, scope);
        let language = readable(language);
        match language {
            Some(language) => self.look_over(&without_patterns(language, text)),
            None => self.pass_over("it is code in another language", text),
        }
        self.typed_code(text, own, scope);
        if runs_its_input(text) {
            self.feed(&scope.stdin.from.clone(), "");
        }
        if runs_what_it_fetches(text) {
            self.mark(own, "runs-fetched");
        }
        if let Some(language) = language {
            self.code(language, text, program, own, scope);
        }
    }

    /// The command that was read last runs a file of its own name: `./install.sh`.
    pub(super) fn run_own_file(&mut self, scope: &Scope) {
        let raw = self.commands.last().map(|command| &command.raw).filter(|raw| raw.contains('/'));
        if let Some(raw) = raw.cloned() {
            self.run_file(&raw, "", scope);
        }
    }

    /// A file that the same line has written runs what was written to it.
    pub(super) fn run_file(&mut self, file: &str, program: &str, scope: &Scope) {
        let Some(path) = resolve(scope.cwd.main(), file) else { return };
        let all = self.writers(&path, scope);
        let texts = self.texts_of(&all);
        self.feed(&all, "");
        // A script that starts itself is read once.
        let own = self.commands.len().checked_sub(1);
        self.mark_if_typed(own, &all);
        if texts.is_empty() || !self.running.insert(path.clone()) {
            if texts.iter().any(|text| multiplies(file, text)) {
                self.mark(own, "fork-bomb");
            }
            return;
        }
        for text in texts {
            let program = if program.is_empty() { named_inside(&text) } else { program };
            match language_of(program, self.programs) {
                Some(Language::Shell) => {
                    self.text(&text, &mut scope.through(program).with_any_arguments());
                }
                Some(language) => self.other_language(language, program, &text, own, scope),
                None => {}
            }
        }
        self.running.remove(&path);
    }

    /// The commands of the same line that wrote a file.
    pub(super) fn writers(&mut self, path: &str, scope: &Scope) -> Vec<usize> {
        if !self.spend(self.commands.len() / 4) {
            return Vec::new();
        }
        let cwd = scope.cwd.main();
        let packed: Vec<_> = self.commands.iter().flat_map(|command| command.unpacks(path)).take(8).collect();
        let holds = |command: &ShellCommand| {
            let wrote = |path: &PathFact| {
                let outputs = command.outputs.iter().chain(&command.named);
                path.resolved.as_deref().is_some_and(|path| command.writes(path, cwd))
                    || outputs.filter(|_| command.program != "tar").any(|output| output.text == path.text)
            };
            command.writes(path, cwd) || packed.iter().any(|path| wrote(path))
        };
        let wrote: Vec<usize> = self
            .commands
            .iter()
            .enumerate()
            .filter(|(_, command)| holds(command))
            .map(|(at, _)| at)
            .collect();
        // What `tee` writes and `tar` unpacks comes from somebody else.
        let unpackers: Vec<_> = self
            .commands
            .iter()
            .filter(|command| command.unpacks(path).next().is_some())
            .map(|command| command.program.as_str())
            .take(8)
            .collect();
        let tee =
            wrote.iter().filter_map(|at| self.commands.get(*at)).any(|command| command.program == "tee");
        let fed = self.commands.iter().enumerate().filter(|(_, command)| {
            command.feeds.iter().any(|to| tee && to == "tee" || unpackers.contains(&to.as_str()))
        });
        fed.map(|(at, _)| at).chain(wrote).collect()
    }
}

/// The program that the first line of a script names; a shell, if it names none.
fn named_inside(text: &str) -> &str {
    let first = text.lines().next().and_then(|line| line.strip_prefix("#!")).unwrap_or("sh");
    let mut words = first.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    words.find(|word| *word != "env" && !word.starts_with('-')).unwrap_or("sh")
}

/// Whether the unknown part of a text for a shell lies behind a space: not in the program's name.
fn is_argument(text: &Word) -> bool {
    let known = text.shape.split('*').next().unwrap_or_default().trim_start();
    known.contains(char::is_whitespace)
        && !known.contains(['|', ';', '&', '\n', '$', '`', '<', '>', '(', '"', '\''])
}
