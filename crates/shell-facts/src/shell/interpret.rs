// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the code that an interpreter runs: text among its words, its standard input, or a file that
//! the call has written or the caller has read.

use tenterhook_paths::{FileOp, PathFact, resolve};
use tenterhook_programs::{Language, Program, Role};

use super::super::described_command::DescribedCommand;
use super::ShellReader;
use super::code::code_reader;
use super::command::{ShellCommand, program_name};
use super::interpreter::{ScriptSource, language_of, runs_its_input, script_source};
use super::invoke::starts_itself_endlessly;
use super::scope::ShellScope;
use super::typed_input::TYPED_PROGRAM;
use super::word::{ShellWord, merge_sources};

impl ShellReader<'_> {
    /// Reads the code that an interpreter runs; returns false if the program is not an interpreter or runs no code
    /// itself.
    pub(super) fn interpret(
        &mut self,
        described: &DescribedCommand<'_>,
        program: &str,
        scope: &ShellScope,
    ) -> bool {
        let Some((language, script)) = script_source(described) else { return false };
        if script == ScriptSource::Nothing && language == Language::Plain {
            self.read_compiled_files(described, program, scope);
        }
        let inner = described_script(described, &script);
        // `bash -n f` and `node --check f` only parse the code.
        if described.has(Role::DryRun) {
            return true;
        }
        self.run_script(language, script, program, scope);
        if let Some((name, arguments)) = inner {
            self.run_described_script(name, arguments, program, scope);
        }
        true
    }

    /// Analyses a script or module that has a description of its own: `python manage.py shell -c CODE`,
    /// `python -m timeit CODE`.
    fn run_described_script(
        &mut self,
        name: &str,
        arguments: &[ShellWord],
        program: &str,
        scope: &ShellScope,
    ) {
        let name = program_name(name).to_ascii_lowercase();
        // Package managers are found among the words of the interpreter, because their options differ there.
        let is_own = |found: &Program<'_>| !found.installs() && name != program;
        if self.programs.find(&name).as_ref().is_some_and(is_own) {
            let words: Vec<_> =
                std::iter::once(ShellWord::literal(&name)).chain(arguments.iter().cloned()).collect();
            self.run_words(&words, &mut scope.started_by(program));
        }
    }

    fn run_script(
        &mut self,
        language: Language,
        script: ScriptSource<'_>,
        program: &str,
        scope: &ShellScope,
    ) {
        let mut inner = scope.started_by(program);
        let own = self.last_command();
        let (texts, from) = match script {
            ScriptSource::Stdin => {
                // The script itself is read from standard input, so programs that it starts do not receive the known
                // text.
                inner.stdin.texts.clear();
                let read =
                    own.and_then(|own| self.commands.get(own)).is_some_and(|own| !own.inputs.is_empty());
                if language == Language::Shell
                    && scope.stdin.from.is_empty()
                    && scope.stdin.texts.is_empty()
                    && !read
                {
                    self.mark_act(own, "interactive");
                }
                self.mark_typed_program(own, scope);
                self.report_hidden_input(language, scope);
                inner.stdin.from_terminal = false;
                (scope.stdin.texts.clone(), scope.stdin.from.clone())
            }
            ScriptSource::Text(text, arguments) => {
                inner = inner.with_arguments(arguments.get(1..).unwrap_or_default());
                if let Some(name) = arguments.first().filter(|name| name.pattern || name.text.contains('/')) {
                    inner.set("0", name.to_value());
                }
                let mut from = text.from.clone();
                self.mark_if_typed(own, &from);
                // `xargs -I{} sh -c '{}'` runs its input.
                if scope.via.last().is_some_and(|via| via == "xargs") && text.dynamic {
                    merge_sources(&mut from, &scope.stdin.from);
                }
                // An unknown value after the program's name is an argument, not code.
                if language == Language::Shell
                    && !text.may_be_option
                    && text.dynamic
                    && is_unknown_argument(&text)
                {
                    self.mark_fed(&from, "");
                    from.clear();
                }
                // `bash -c "$(cat f)"`
                let mut texts = if text.dynamic { self.file_outputs(&from, scope) } else { Vec::new() };
                texts.push(text.text.as_str().into());
                (texts, from)
            }
            ScriptSource::File(file) if file.is_process => {
                self.mark_if_typed(own, &file.from);
                let mut texts = self.printed_by(&file.from);
                if texts.is_empty() {
                    texts = self.file_outputs(&file.from, scope);
                }
                (texts, file.from.clone())
            }
            ScriptSource::File(file) if self.is_terminal(&file.text, scope) => {
                return self.mark_act(own, TYPED_PROGRAM);
            }
            // `deno run https://…`
            ScriptSource::File(file)
                if file.text.starts_with("https://") || file.text.starts_with("http://") =>
            {
                return self.run_words(std::slice::from_ref(file), &mut inner);
            }
            ScriptSource::File(file) => {
                self.add_effect(FileOp::Run, file, program, scope);
                return self.run_file(&file.text, program, scope);
            }
            ScriptSource::Nothing => return,
        };
        self.mark_fed(&from, program);
        for text in texts {
            match language {
                Language::Shell => self.read_text(&text, &mut inner.clone()),
                _ => self.run_other_language(language, program, &text, own, scope),
            }
        }
    }

    /// Reports a shell whose input is compressed or encrypted, because its commands are unknown.
    fn report_hidden_input(&mut self, language: Language, scope: &ShellScope) {
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
            self.report_opaque("it is packed or enciphered", "");
        }
    }

    /// Reads code among the words of a program that is not an interpreter: `rails runner CODE`. Other modules read SQL
    /// and the scripts of awk and sed.
    pub(super) fn run_embedded_code(
        &mut self,
        language: Language,
        program: &str,
        code: &ShellWord,
        own: Option<usize>,
        scope: &ShellScope,
    ) {
        if language == Language::Makefile {
            return self.run_makefile(&code.text, program, scope);
        }
        let has_own_module = matches!(language, Language::Sql | Language::Awk | Language::Sed);
        if !has_own_module && (code_reader(language).is_some() || language == Language::Plain) {
            self.mark_fed(&code.from, program);
            self.run_other_language(language, program, &code.text, own, scope);
        } else if language == Language::Other {
            self.read_literals(&code.text, &[], program, own, scope);
        }
    }

    /// Reads the source files that a compiler reads, if the same call has written them: the call then usually runs the
    /// result.
    fn read_compiled_files(&mut self, described: &DescribedCommand<'_>, program: &str, scope: &ShellScope) {
        let own = self.last_command();
        let sources = described.parsed.parts_with_role(Role::Read).take(8);
        for word in sources.filter_map(|part| described.words.get(part.word)) {
            let Some(path) = resolve(scope.cwd.expected(), &word.text) else { continue };
            let writers = self.find_writers(&path, scope);
            for text in self.printed_by(&writers) {
                self.mark_signs(&text, own);
                self.read_literals(&text, &[], program, own, scope);
            }
        }
    }

    pub(super) fn run_other_language(
        &mut self,
        language: Language,
        program: &str,
        text: &str,
        own: Option<usize>,
        scope: &ShellScope,
    ) {
        if language == Language::PowerShell {
            return self.read_powershell(text, &mut scope.started_by(program));
        }
        let commands = self.commands.len();
        self.run_spawned(program, text, scope);
        let has_spawned = self.commands.len() > commands;
        // IPython runs lines that begin with `!` in a shell.
        if program == "ipython" {
            for line in text.lines().filter_map(|line| line.trim_start().strip_prefix('!')) {
                self.read_text(line, &mut scope.started_by(program));
            }
        }
        let is_well_described = matches!(
            language,
            Language::Python
                | Language::JavaScript
                | Language::Perl
                | Language::Ruby
                | Language::Php
                | Language::Awk
        );
        let is_plain = language == Language::Plain;
        let language = code_reader(language);
        // If the language has a reader, the effects are known. A word in the code may then be any identifier.
        if language.is_none() && !is_plain {
            self.report_unread("it is code in another language", text);
        }
        self.mark_typed_code(text, own, scope);
        if runs_its_input(text) {
            self.mark_fed(&scope.stdin.from.clone(), "");
        }
        self.mark_signs(text, own);
        let known =
            language.map(|language| self.read_code(language, text, program, own, scope)).unwrap_or_default();
        if !is_well_described && !has_spawned {
            self.read_literals(text, &known, program, own, scope);
        }
    }

    /// Reads the file that the last command runs by its path: `./install.sh`.
    pub(super) fn run_own_file(&mut self, scope: &ShellScope) {
        // `uv run tool.py` runs a file of the working directory.
        let by_runner =
            scope.via.last().is_some_and(|via| matches!(via.as_str(), "uv" | "poetry" | "pdm" | "rye"));
        let is_file = |raw: &&String| raw.contains('/') || by_runner && raw.strip_suffix(".py").is_some();
        let raw = self.commands.last().map(|command| &command.raw).filter(is_file);
        if let Some(raw) = raw.cloned() {
            self.run_file(&raw, "", scope);
        }
    }

    /// Reads the file that the call has installed under the name of the last command: `tee /usr/local/bin/x; x`.
    pub(super) fn run_installed_file(&mut self, program: &str, scope: &ShellScope) {
        if program.is_empty() || !self.spend_steps(self.commands.len() / 4) {
            return;
        }
        let is_installed = |path: &&str| {
            let name = path.strip_suffix(program).and_then(|rest| rest.strip_suffix('/'));
            name.is_some_and(|directory| directory.ends_with("bin"))
        };
        let written = self.commands.iter().flat_map(|command| {
            let named = command.operands.iter().chain(&command.named).filter(|path| path.is_not_read);
            command
                .outputs
                .iter()
                .chain(&command.error_outputs)
                .chain(named)
                .filter_map(|path| path.resolved.as_deref())
        });
        let found = written.into_iter().find(is_installed);
        if let Some(path) = found.map(str::to_owned) {
            self.run_file(&path, "", scope);
        }
    }

    /// Reads the content of a file that is run, if the same call has written it or the caller has read it.
    pub(super) fn run_file(&mut self, file: &str, program: &str, scope: &ShellScope) {
        let Some(path) = resolve(scope.cwd.expected(), file) else { return };
        let all = self.find_writers(&path, scope);
        let mut texts = self.printed_by(&all);
        if texts.is_empty() {
            texts = self.copied_texts(&path, &all, program.is_empty(), scope);
        }
        let mut program = program.to_owned();
        if texts.is_empty() {
            texts = self.run_texts(&path, program.is_empty(), scope);
            // Files that the script imports are in the language of the script.
            if let Some(script) = texts.first().filter(|_| program.is_empty()) {
                script_program(file, script).clone_into(&mut program);
            }
        }
        self.mark_fed(&all, "");
        // A script that runs itself is read once.
        let own = self.last_command();
        self.mark_if_typed(own, &all);
        if texts.is_empty() || !self.running_files.insert(path.clone()) {
            if texts.iter().any(|text| starts_itself_endlessly(file, text)) {
                self.mark_act(own, "fork-bomb");
            }
            return;
        }
        for text in texts {
            let program = if program.is_empty() { script_program(file, &text) } else { program.as_str() };
            match language_of(program, self.programs) {
                Some(Language::Shell) => {
                    self.read_text(&text, &mut scope.started_by(program).for_script(&path));
                }
                Some(language) => {
                    if let Some(command) = own.and_then(|at| self.writable_command(at)) {
                        command.code_texts.push(text.clone());
                    }
                    self.run_other_language(language, program, &text, own, scope);
                }
                None => {}
            }
        }
        self.running_files.remove(&path);
    }

    /// Returns the earlier commands of the call that wrote a file.
    pub(super) fn find_writers(&mut self, path: &str, scope: &ShellScope) -> Vec<usize> {
        if !self.spend_steps(self.commands.len() / 4) {
            return Vec::new();
        }
        let cwd = scope.cwd.expected();
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
        // The data that `tee` writes and `tar` unpacks comes from other commands.
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

/// Returns the script or module that an interpreter runs, and its arguments.
fn described_script<'a>(
    described: &DescribedCommand<'a>,
    script: &ScriptSource<'a>,
) -> Option<(&'a str, &'a [ShellWord])> {
    let words = described.words;
    let at = match script {
        ScriptSource::File(file) if !file.dynamic && !file.is_process => {
            words.iter().position(|word| std::ptr::eq(word, *file))?
        }
        ScriptSource::Nothing => described.parsed.parts_with_role(Role::Module).next()?.word,
        _ => return None,
    };
    Some((words.get(at)?.text.as_str(), words.get(at + 1..).unwrap_or_default()))
}

/// Whether a file is a PowerShell script.
pub(super) fn is_powershell_file(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("ps1"))
}

/// Interpreters of scripts, by file name extension.
const PROGRAMS_BY_EXTENSION: &[(&str, &str)] = &[
    ("sh", "sh"),
    ("bash", "bash"),
    ("zsh", "zsh"),
    ("ksh", "ksh"),
    ("py", "python"),
    ("pyw", "python"),
    ("js", "node"),
    ("mjs", "node"),
    ("cjs", "node"),
    ("ts", "node"),
    ("mts", "node"),
    ("rb", "ruby"),
    ("rake", "ruby"),
    ("pl", "perl"),
    ("php", "php"),
    ("lua", "lua"),
    ("ps1", "pwsh"),
];

/// Returns the interpreter of a script, by its file name extension.
pub fn interpreter_of_file(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    PROGRAMS_BY_EXTENSION.iter().find(|(known, _)| *known == extension).map(|(_, program)| *program)
}

/// Returns the interpreter in the `#!` line of a script. Without this line the name of the file decides; a shell runs
/// all other files.
fn script_program<'t>(file: &str, text: &'t str) -> &'t str {
    let Some(first) = text.lines().next().and_then(|line| line.strip_prefix("#!")) else {
        return interpreter_of_file(file).unwrap_or("sh");
    };
    let mut words = first.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    words.find(|word| *word != "env" && !word.starts_with('-')).unwrap_or("sh")
}

/// Whether the unknown part of a shell text is an argument, and not part of the program's name.
fn is_unknown_argument(text: &ShellWord) -> bool {
    let known = text.shape.split('*').next().unwrap_or_default().trim_start();
    known.contains(char::is_whitespace)
        && !known.contains(['|', ';', '&', '\n', '$', '`', '<', '>', '(', '"', '\''])
}
