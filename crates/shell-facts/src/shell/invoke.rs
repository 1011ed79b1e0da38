// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads one command with its words, and the commands that it starts.

use std::sync::Arc;

use tenterhook_paths::{Certainty, FileOp, PathFact};

use super::super::described_command::DescribedCommand;
use super::super::effect::ExecLocation;
use super::command::{ShellCommand, program_of};
use super::decode::decoder;
use super::exec_site::ExecSite;
use super::file_mode::{KEEPS_RUNNABLE_ACT, keeps_runnable};
use super::git_scope::{SCRATCH_ACT, mark_scratch_work, names_git_variable};
use super::launch::remote_broadcast;
use super::narrow::narrow_words;
use super::printed_text::printed_texts;
use super::request_client::{is_request_client, prints_only_response};
use super::scope::{ShellScope, output_sources};
use super::word::ShellWord;
use super::wrappers::{WrappedCommand, unwrap};
use super::{MAX_COMMANDS, ShellReader, find, misc_launchers};

/// Maximum number of words read for one command.
const MAX_WORDS_PER_COMMAND: usize = 4096;
/// Programs that print some lines of their input unchanged.
const LINE_FILTERS: &[&str] = &["grep", "egrep", "fgrep", "sort", "uniq", "head", "tail"];

/// Files redirected into and out of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Redirections {
    pub(super) inputs: Vec<PathFact>,
    pub(super) outputs: Vec<PathFact>,
    /// Files that only other descriptors write to, such as `2> errors.log`.
    pub(super) error_outputs: Vec<PathFact>,
    /// Whether the output goes to another descriptor: `>&2`.
    pub(super) joins_errors: bool,
    /// Operations of the shell on these files before the command starts.
    pub(super) touched: Vec<(FileOp, PathFact)>,
}

impl Redirections {
    /// Returns the redirections for commands started by this one. The files are already open.
    pub(super) fn for_started_command(&self) -> Self {
        Self { touched: Vec::new(), ..self.clone() }
    }
}

impl ShellReader<'_> {
    /// Analyses a command that has no redirections.
    pub(super) fn run_words(&mut self, words: &[ShellWord], scope: &mut ShellScope) {
        self.run_command(words, &Redirections::default(), scope);
    }

    /// Adds redirections without a command of their own: `$(<file)`, `{ …; } < file`, `> file`.
    pub(super) fn add_bare_redirects(&mut self, io: &Redirections, words: &[ShellWord], scope: &ShellScope) {
        if io.inputs.is_empty() && io.outputs.is_empty() && io.error_outputs.is_empty() {
            return;
        }
        let direction = if io.inputs.is_empty() { ">" } else { "<" };
        let mut all = vec![ShellWord::literal(direction)];
        all.extend_from_slice(words);
        if let Some(command) = ShellCommand::new(&all, &scope.site.roots, &scope.cwd, self.programs) {
            let by = command.program.clone();
            if self.push_command(ShellCommand { via: scope.via.clone(), on: scope.site.on, ..command }, io) {
                self.add_redirect_effects(io, &by, scope);
            }
        }
    }

    /// Applies what the last command does with files that the script has written.
    fn update_own_files(&self, first_effect: usize, io: &Redirections, scope: &mut ShellScope) {
        scope.forget_changed_files(self.effects.get(first_effect..).unwrap_or_default());
        if let Some(command) = self.commands.last() {
            scope.remember_written_file(command, io);
        }
    }

    pub(super) fn push_command(&mut self, command: ShellCommand, io: &Redirections) -> bool {
        if self.commands.len() >= MAX_COMMANDS {
            self.exhausted = true;
            return false;
        }
        let is_known =
            !command.program.is_empty() && command.words.iter().all(|word| !word.dynamic && !word.pattern);
        let words = if is_known { Certainty::Certain } else { Certainty::Possible };
        let (mut outputs, mut error_outputs) = (io.outputs.clone(), io.error_outputs.clone());
        if io.joins_errors {
            outputs.append(&mut error_outputs);
        }
        self.commands.push(ShellCommand {
            inputs: io.inputs.clone(),
            outputs,
            error_outputs,
            certainty: self.certainty.max(words),
            span: self.span,
            ..command
        });
        true
    }

    pub(super) fn run_command(&mut self, words: &[ShellWord], io: &Redirections, scope: &mut ShellScope) {
        let (words, more) = words.split_at_checked(MAX_WORDS_PER_COMMAND).unwrap_or((words, &[]));
        if !more.is_empty() {
            self.report_opaque("too many words", &join_texts(more));
        }
        // Every rule checks each word as an option and as a path. Patterns and unknown words are compared with every
        // glob of every rule.
        let cost = |word: &ShellWord| match word {
            ShellWord { pattern: true, .. } => 72,
            ShellWord { dynamic: true, .. } => 40,
            _ => 10,
        };
        if words.is_empty() || !self.spend_steps(words.iter().map(cost).sum()) || !self.enter_level() {
            return;
        }
        let Some((first, rest)) = words.split_first() else { return self.leave_level() };
        let program = program_of(first);
        let programs = self.programs;
        let described = programs.find(program).map(|program| DescribedCommand::new(program, rest));
        let described = described.as_ref();
        let input = self.input_file_texts(described, io, scope);
        let mut with_input = (!input.is_empty()).then(|| scope.clone());
        if let Some(scope) = &mut with_input {
            scope.stdin.texts = input;
        }
        let scope = with_input.as_mut().unwrap_or(scope);
        let (roots, cwd) = (&scope.site.roots, &scope.cwd);
        let command = ShellCommand::from_description(first, rest, program.to_owned(), described, roots, cwd);
        let mut command = command.at_scope(scope);
        // Decoding takes time proportional to the input.
        let size: usize = scope.stdin.texts.iter().map(|text| text.len()).sum();
        if decoder(program, rest).is_none() || self.spend_steps(size / 64) {
            command.printed = printed_texts(program, rest, scope);
        }
        if command.prints_literal_dollars() {
            command.acts.push("literal-dollars");
        }
        command.from_terminal = self.passes_typed(&command, scope);
        mark_scratch_work(&mut command, scope);
        if keeps_runnable(program, rest) {
            command.acts.push(KEEPS_RUNNABLE_ACT);
        }
        let first_effect = self.effects.len();
        scope.mark_own_files(&mut command);
        if self.push_command(command, io) {
            if self.programs.count_additions() > 0 {
                self.note_additions(program, words, io, scope);
            }
            if program.is_empty() {
                let own = self.last_command();
                self.mark_if_typed(own, &first.from);
                // A program is never named by an option such as `--rm`.
                let read: Vec<_> =
                    words.iter().filter(|word| !word.text.starts_with("--")).cloned().collect();
                self.report_unread("the program is only known when it runs", &join_texts(&read));
                // The output of `$(…)` in place of a program is the command that runs.
                self.mark_fed(&first.from, "eval");
            }
            self.add_redirect_effects(io, program, scope);
            self.add_program_effects(first, described, program, scope);
            self.update_own_files(first_effect, io, scope);
            self.follow_command(described, program, rest, &io.for_started_command(), scope);
        }
        self.leave_level();
    }

    /// Reads the commands that a command starts, and applies its changes to the scope.
    fn follow_command(
        &mut self,
        described: Option<&DescribedCommand<'_>>,
        program: &str,
        words: &[ShellWord],
        io: &Redirections,
        scope: &mut ShellScope,
    ) {
        self.mark_prompt(described, program, scope);
        self.mark_output_end(program, words, io, scope);
        self.run_tasks(described, program, scope);
        self.run_project_files(program, words, scope);
        self.run_script_values(described, program, scope);
        self.run_evaluated_words(program, words, scope);
        self.run_named_code(program, words, scope);
        if described.is_some_and(|described| self.interpret(described, program, scope)) {
            return;
        }
        self.mark_fed(&scope.stdin.from.clone(), program);
        // The command also receives the output of `<(…)` and `$(…)` among its words.
        let sources = output_sources(words);
        self.mark_fed(&sources, program);
        if let Some(body) = scope.find_function(program) {
            if starts_itself_endlessly(program, &body.text) {
                self.mark_act(self.last_command(), "fork-bomb");
            }
            // A recursive function is not walked again.
            if scope.via.iter().filter(|via| *via == program).count() > 1 {
                return;
            }
            let mut inner = scope.enter_function(program, words);
            self.mark_called(&body);
            self.walk_function(&body, &mut inner);
            return scope.leave_function(inner);
        }
        if self.run_builtin(program, words, scope) {
            return;
        }
        self.note_renamed_program(program, words, scope);
        self.run_launcher(described, program, words, scope);
        self.apply_patches(program, words, scope);
        if let Some(text) = remote_broadcast(program, words) {
            let site = Arc::new(ExecSite::nested(&scope.site, ExecLocation::Remote, None, Vec::new()));
            return self.read_text(&text, &mut scope.started_by(program).at_site(site, None));
        }
        if described.is_some_and(|described| self.run_elsewhere(described, program, scope))
            || self.run_multiplexer(program, words, scope)
        {
            return;
        }
        if let Some(wrapped) = described.and_then(unwrap) {
            return self.run_wrapped(program, words, &wrapped, io, scope);
        }
        self.run_own_file(scope);
        if self.run_misc_launcher(program, words, scope) {
            return;
        }
        let is_described = described.is_some();
        if let Some(inner) = misc_launchers::hidden_delete(program, is_described, words) {
            self.run_command(inner, io, &mut scope.started_by(program));
        }
        if !is_described {
            self.run_option_texts(program, words, scope);
            self.run_installed_file(program, scope);
        }
    }

    pub(super) fn run_wrapped(
        &mut self,
        program: &str,
        words: &[ShellWord],
        wrapped: &WrappedCommand<'_>,
        io: &Redirections,
        scope: &ShellScope,
    ) {
        let mut through = scope.started_by(program);
        if program == "nsenter" {
            through = through.entering_namespace(words);
        }
        if let Some(directory) = &wrapped.working_directory {
            let known = !directory.dynamic && !directory.pattern;
            through.cwd.change(known.then_some(directory.text.as_str()), false);
        }
        if program == "crontab" {
            if words.is_empty() || words.iter().any(|word| word.is("-") || word.is("-e")) {
                self.mark_typed_program(self.last_command(), scope);
            }
            self.mark_fed(&scope.stdin.from.clone(), "sh");
            return self.run_crontab(scope);
        }
        let first = self.commands.len();
        let mut pairs = Vec::new();
        if matches!(program, "env" | "sudo" | "cross-env") {
            for (at, word) in words.iter().enumerate().take(words.len().saturating_sub(wrapped.inner.len())) {
                let Some((name, _)) = word.text.split_once('=') else { continue };
                let value = words.get(at).map(|word| word.skip_bytes(name.len() + 1)).unwrap_or_default();
                self.run_hook_variable(name, &value, scope);
                pairs.push(word.text.clone());
            }
        }
        if wrapped.shell {
            if reads_commands(program, words) {
                self.mark_typed_program(self.last_command(), scope);
            }
            self.mark_fed(&scope.stdin.from.clone(), "sh");
            let texts = std::mem::take(&mut through.stdin.texts);
            for text in texts {
                self.read_text(&text, &mut through.clone());
            }
        }
        for text in &wrapped.texts {
            self.mark_fed(&text.from, "sh");
            self.read_text(&text.text, &mut through.clone());
        }
        match program {
            _ if wrapped.inner.is_empty() => {}
            "xargs" => {
                self.mark_typed_arguments(wrapped.inner, scope);
                let own = words.get(..words.len().saturating_sub(wrapped.inner.len())).unwrap_or_default();
                let inputs = self.input_words(scope);
                if uses_placeholder(own) {
                    self.run_each(&use_braces_placeholder(own, wrapped.inner), &inputs, io, &through);
                } else {
                    self.run_command(&[wrapped.inner, &inputs].concat(), io, &mut through);
                }
            }
            // Some versions of these programs do not join the words, so both forms are read.
            _ if wrapped.joins => {
                self.read_text(&join_texts(wrapped.inner), &mut through.clone());
                let is_spaced = |word: &ShellWord| word.text.contains(char::is_whitespace);
                if !wrapped.inner.first().is_some_and(is_spaced) && wrapped.inner.iter().any(is_spaced) {
                    self.run_command(wrapped.inner, io, &mut through);
                }
            }
            // `uv run - < tool.py`
            "uv" if wrapped.inner.first().is_some_and(|word| word.is("-")) => {
                let python = [ShellWord::literal("python")];
                self.run_command(&[python.as_slice(), wrapped.inner].concat(), io, &mut through);
            }
            _ => self.run_command(wrapped.inner, io, &mut through),
        }
        if program == "env"
            && let Some(text) = env_split_string(words)
        {
            self.read_text(&text, &mut through);
        }
        self.add_environment(first, &pairs);
    }

    /// Adds environment variables to the commands since `first`.
    pub(super) fn add_environment(&mut self, first: usize, pairs: &[String]) {
        if !pairs.is_empty() {
            let redirects_git = pairs.iter().any(|pair| names_git_variable(pair));
            for command in self.commands.iter_mut().skip(first) {
                command.env.extend_from_slice(pairs);
                if redirects_git {
                    command.acts.retain(|act| *act != SCRATCH_ACT);
                }
            }
        }
    }

    /// Records known behaviour that is not visible in the words of a command.
    pub(super) fn mark_act(&mut self, command: Option<usize>, act: &'static str) {
        if let Some(command) = command.and_then(|at| self.writable_command(at))
            && !command.acts.contains(&act)
        {
            command.acts.push(act);
        }
    }

    /// Records that the output of earlier commands ends in this program. A later program of the pipeline overwrites it.
    fn mark_output_end(&mut self, program: &str, words: &[ShellWord], io: &Redirections, scope: &ShellScope) {
        let hides = || !io.outputs.is_empty() || prints_little(program, words);
        let last = if scope.stdin.from.is_empty() || hides() { "" } else { program };
        for index in &scope.stdin.from {
            if self.is_sent_in_request(*index, &scope.stdin.from) {
                continue;
            }
            if let Some(command) = self.writable_command(*index) {
                command.ends_in = Some(last.to_owned());
            }
        }
    }

    /// Records that a program receives the output of these commands.
    pub(super) fn mark_fed(&mut self, from: &[usize], program: &str) {
        for index in from {
            if !self.spend_steps(1) {
                return;
            }
            if self.is_sent_in_request(*index, from) {
                continue;
            }
            if let Some(command) = self.writable_command(*index)
                && !command.feeds.iter().any(|known| known == program)
            {
                command.feeds.push(program.to_owned());
            }
        }
    }

    /// Whether another of these commands has sent the output of this command in a request. That command then prints the
    /// response, which does not contain the request.
    fn is_sent_in_request(&self, index: usize, from: &[usize]) -> bool {
        let Some(command) = self.commands.get(index) else { return false };
        if !command.feeds.iter().any(|program| is_request_client(program)) {
            return false;
        }
        let clients = from.iter().filter_map(|other| self.commands.get(*other).filter(|_| *other > index));
        let mut clients = clients.filter(|client| command.feeds.contains(&client.program));
        clients.any(prints_only_response)
    }

    /// Returns the words on standard input. One word beyond the limit shows callers that words were cut off.
    pub(super) fn input_words(&self, scope: &ShellScope) -> Vec<ShellWord> {
        let sources: Vec<_> = scope.stdin.from.iter().filter_map(|index| self.commands.get(*index)).collect();
        // A filter passes only some of the words.
        let picks = |command: &&&ShellCommand| {
            let inverts = command.options.iter().any(|option| option.is("v") || option.is("invert-match"));
            let names =
                command.operands.first().is_some_and(|word| word.text.contains(char::is_alphanumeric));
            command.program.ends_with("grep") && names && !inverts
        };
        let picked = sources.iter().any(|command| picks(&command));
        let listed = self.listed_words(&sources, scope);
        if picked { narrow_words(listed) } else { listed }
    }

    fn listed_words(&self, sources: &[&ShellCommand], scope: &ShellScope) -> Vec<ShellWord> {
        let mut finds = sources.iter().filter(|command| !LINE_FILTERS.contains(&command.program.as_str()));
        match (finds.next(), finds.next()) {
            (Some(only), None) if only.program == "find" => find::find_targets(&only.words),
            (Some(only), None) if only.program == "git" && find::lists_files(&only.words) => {
                find::listed_files(&only.words)
            }
            (Some(only), None) if only.program == "ls" && lists_paths(&only.words) => {
                only.words.iter().filter(|word| !word.text.starts_with('-')).cloned().collect()
            }
            (Some(only), None) if matches!(only.program.as_str(), "fd" | "fdfind") => {
                find::fd_targets(&only.words)
            }
            (Some(only), None)
                if matches!(only.program.as_str(), "echo" | "printf")
                    && only.words.iter().any(|word| word.pattern) =>
            {
                only.words.iter().filter(|word| word.pattern).cloned().collect()
            }
            (Some(only), None) if matches!(only.program.as_str(), "echo" | "printf") => {
                let printed = only.printed.iter().flat_map(|text| text.split_whitespace());
                printed.take(MAX_WORDS_PER_COMMAND + 1).map(ShellWord::literal).collect()
            }
            _ => vec![ShellWord {
                text: "{}".to_owned(),
                shape: "*".to_owned(),
                dynamic: true,
                may_split: true,
                from: scope.stdin.from.clone(),
                ..ShellWord::default()
            }],
        }
    }

    /// Analyses a command once for each input, with `{}` replaced. All commands together may be far longer than the
    /// text of the call, so each one is created only when it is analysed.
    pub(super) fn run_each(
        &mut self,
        inner: &[ShellWord],
        inputs: &[ShellWord],
        io: &Redirections,
        scope: &ShellScope,
    ) {
        for input in inputs {
            let Some(command) = self.fill_placeholder(inner, input) else { return };
            self.run_command(&command, io, &mut scope.clone());
        }
        self.exhausted |= inputs.len() > MAX_WORDS_PER_COMMAND;
    }

    /// Replaces `{}` in a command with a word; `None` if the step limit is reached.
    pub(super) fn fill_placeholder(
        &mut self,
        inner: &[ShellWord],
        input: &ShellWord,
    ) -> Option<Vec<ShellWord>> {
        let grows = |word: &ShellWord| word.text.matches("{}").count() * input.text.len();
        let size = inner.iter().map(|word| 1 + (word.text.len() + grows(word)) / 64).sum();
        self.spend_steps(size).then(|| find::replace_placeholder(inner, input))
    }

    /// Replaces `{}` in a command, or appends the word if there is no `{}`.
    pub(super) fn fill_or_append(
        &mut self,
        inner: &[ShellWord],
        input: &ShellWord,
    ) -> Option<Vec<ShellWord>> {
        let mut command = self.fill_placeholder(inner, input)?;
        if !inner.iter().any(|word| word.text.contains("{}")) {
            command.push(input.clone());
        }
        Some(command)
    }
}

/// Whether a program that can start an interactive shell does so with these words.
fn reads_commands(program: &str, words: &[ShellWord]) -> bool {
    let letters = |wanted: &[char]| {
        let options = words.iter().filter_map(|word| word.text.strip_prefix('-'));
        let mut short = options.filter(|text| !text.starts_with('-'));
        short.any(|text| text.contains(wanted))
    };
    let long = |names: &[&str]| words.iter().any(|word| names.contains(&word.text.as_str()));
    match program {
        // Without `-s` or `-i` no shell is started: `sudo -v`.
        "sudo" | "doas" => letters(&['s', 'i']) || long(&["--shell", "--login"]),
        "at" | "batch" => !letters(&['l', 'c', 'r', 'd', 'f', 'V']),
        _ => !long(&["--help", "--version", "-h", "-V"]),
    }
}

/// Whether a program prints none of its input or only a few characters: `grep -q x`, `cut -c1-4`.
fn prints_little(program: &str, words: &[ShellWord]) -> bool {
    const MAX_LETTERS_PRINTED: usize = 8;
    let letters = |options: &[&str]| {
        let at = words.iter().position(|word| options.iter().any(|option| word.text.starts_with(option)))?;
        let option = words.get(at)?.text.as_str();
        let attached = options.iter().find_map(|name| option.strip_prefix(name)).unwrap_or_default();
        let value = if attached.is_empty() { words.get(at + 1)?.text.as_str() } else { attached };
        let last = value.trim_start_matches('=').rsplit(['-', ',']).next()?;
        last.parse::<usize>().ok()
    };
    match program {
        "grep" | "egrep" | "fgrep" | "rg" => {
            let options = words.iter().filter_map(|word| word.text.strip_prefix('-'));
            let mut options = options.map(|text| text.trim_start_matches('-'));
            options.any(|text| {
                matches!(text, "quiet" | "silent" | "count") || text.len() < 4 && text.contains(['q', 'c'])
            })
        }
        "cut" => {
            letters(&["--characters", "--bytes", "-c", "-b"]).is_some_and(|last| last <= MAX_LETTERS_PRINTED)
        }
        "head" => letters(&["--bytes", "-c"]).is_some_and(|last| last <= MAX_LETTERS_PRINTED),
        _ => false,
    }
}

/// Whether `xargs` with these options replaces a placeholder.
fn uses_placeholder(own: &[ShellWord]) -> bool {
    let option =
        |word: &ShellWord| ["-I", "-i", "--replace"].iter().any(|option| word.text.starts_with(option));
    own.iter().any(option)
}

/// Replaces the placeholder of `xargs -I%` with `{}`. The name of the program is kept: `xargs -Iurl curl url`.
fn use_braces_placeholder(own: &[ShellWord], inner: &[ShellWord]) -> Vec<ShellWord> {
    let at = own.iter().position(|word| word.text.starts_with("-I"));
    let attached = at.and_then(|at| own.get(at)).and_then(|word| word.text.strip_prefix("-I"));
    let mark = match attached {
        Some("") => at.and_then(|at| own.get(at + 1)).map(|word| word.text.as_str()),
        other => other,
    };
    let Some(mark) = mark.filter(|mark| !mark.is_empty() && *mark != "{}") else { return inner.to_vec() };
    let replace = |word: &ShellWord| ShellWord {
        text: word.text.replace(mark, "{}"),
        shape: word.shape.replace(mark, "{}"),
        ..word.clone()
    };
    let Some((program, words)) = inner.split_first() else { return Vec::new() };
    std::iter::once(program.clone()).chain(words.iter().map(replace)).collect()
}

/// Whether a function or script starts itself several times or in the background, so that it never ends.
pub(super) fn starts_itself_endlessly(name: &str, body: &str) -> bool {
    let lines = body.lines().filter(|line| !line.trim_start().starts_with('#'));
    let body = &lines.collect::<Vec<_>>().join("\n");
    let times = body.match_indices(name).filter(|(at, _)| is_command_position(body, *at, name)).count();
    let background = body.replace("&&", "").replace(">&", "").replace("&>", "").contains('&');
    // Without a condition the recursion cannot end.
    let may_end = [
        "if ", "[", "case ", "&&", "||", "return", "for ", "while ", "exit", "test ", "command ", "builtin ",
    ];
    let endless = times > 1 && !may_end.iter().any(|word| body.contains(word));
    times > 1 && body.contains(['|', '&']) || times == 1 && background || endless
}

/// Whether the word at this position is the name of a command, judged by the text around it.
fn is_command_position(text: &str, at: usize, word: &str) -> bool {
    let (before, rest) =
        (text.get(..at).unwrap_or_default(), text.get(at + word.len()..).unwrap_or_default());
    let is_whole =
        rest.chars().next().is_none_or(|next| next.is_whitespace() || "|&;(){}<>`\"'".contains(next));
    let line = before.trim_end_matches([' ', '\t']);
    let is_first = line.is_empty() || line.ends_with(['\n', '|', '&', ';', '(', '{', '`', '!']);
    let follows_keyword = line.len() < before.len()
        && ["then", "do", "else", "exec", "nohup", "setsid", "time"]
            .iter()
            .any(|keyword| line.ends_with(keyword));
    is_whole && (is_first || follows_keyword)
}

pub(super) fn join_texts(words: &[ShellWord]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Whether `ls` prints its operands instead of their content.
fn lists_paths(words: &[ShellWord]) -> bool {
    words.iter().any(|word| word.pattern || word.is("-d")) && !words.iter().any(|word| word.dynamic)
}

/// Returns the text that `env -S 'rm -rf x'` splits into a command.
fn env_split_string(words: &[ShellWord]) -> Option<String> {
    let at = words
        .iter()
        .position(|word| word.text.starts_with("-S") || word.text.starts_with("--split-string"))?;
    let option = words.get(at)?.text.as_str();
    let attached =
        option.trim_start_matches("--split-string").trim_start_matches("-S").trim_start_matches('=');
    let rest = join_texts(words.get(at + 1..)?);
    Some(format!("{attached} {rest}"))
}
