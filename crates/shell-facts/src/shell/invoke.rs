// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One command with its words: what it is, and what it starts in its turn.

use std::sync::Arc;

use tenterhook_paths::{Certainty, Does, PathFact};

use super::super::described_command::DescribedCommand;
use super::super::effect::Side;
use super::command::{ShellCommand, program_of};
use super::decode::decoder;
use super::launch::broadcast;
use super::narrow::some_of_words;
use super::printed_text::printed_texts;
use super::scope::{Scope, from_all};
use super::side::Where;
use super::word::Word;
use super::wrappers::{Wrapped, unwrap};
use super::{MOST_COMMANDS, Reader, find, others};

/// No more words of one command are looked at.
const MOST_WORDS: usize = 4096;
/// Programs that print a part of what they get, unchanged.
const FILTERS: &[&str] = &["grep", "egrep", "fgrep", "sort", "uniq", "head", "tail"];

/// Files redirected into and out of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Redirections {
    pub(super) inputs: Vec<PathFact>,
    pub(super) outputs: Vec<PathFact>,
    /// What the shell does to those files before the command starts.
    pub(super) touched: Vec<(Does, PathFact)>,
}

impl Redirections {
    /// For what the command starts in its turn: the files have been opened.
    pub(super) fn inherited(&self) -> Self {
        Self { touched: Vec::new(), ..self.clone() }
    }
}

impl Reader<'_> {
    /// A command without redirections.
    pub(super) fn invoke(&mut self, words: &[Word], scope: &mut Scope) {
        self.run(words, &Redirections::default(), scope);
    }

    /// Redirections that belong to no single command: `$(<file)`, `{ …; } < file`, `> file`.
    pub(super) fn bare(&mut self, io: &Redirections, words: &[Word], scope: &Scope) {
        if io.inputs.is_empty() && io.outputs.is_empty() {
            return;
        }
        let direction = if io.inputs.is_empty() { ">" } else { "<" };
        let mut all = vec![Word::literal(direction)];
        all.extend_from_slice(words);
        if let Some(command) = ShellCommand::new(&all, &scope.place.ground, &scope.cwd, self.programs) {
            let by = command.program.clone();
            if self.push(ShellCommand { via: scope.via.clone(), on: scope.place.on, ..command }, io) {
                self.touch_redirected(io, &by, scope);
            }
        }
    }

    pub(super) fn push(&mut self, command: ShellCommand, io: &Redirections) -> bool {
        if self.commands.len() >= MOST_COMMANDS {
            self.exhausted = true;
            return false;
        }
        let is_known =
            !command.program.is_empty() && command.words.iter().all(|word| !word.dynamic && !word.pattern);
        let words = if is_known { Certainty::Certain } else { Certainty::Possible };
        self.commands.push(ShellCommand {
            inputs: io.inputs.clone(),
            outputs: io.outputs.clone(),
            certainty: self.certainty.max(words),
            span: self.span,
            ..command
        });
        true
    }

    pub(super) fn run(&mut self, words: &[Word], io: &Redirections, scope: &mut Scope) {
        let (words, more) = words.split_at_checked(MOST_WORDS).unwrap_or((words, &[]));
        if !more.is_empty() {
            self.leave_unread("too many words", &joined(more));
        }
        // Each word is looked at as an option, as a path, and by every rule.
        // A pattern, or what may be anything, is held against every glob of every rule.
        let cost = |word: &Word| match word {
            Word { pattern: true, .. } => 72,
            Word { dynamic: true, .. } => 40,
            _ => 10,
        };
        if words.is_empty() || !self.spend(words.iter().map(cost).sum()) || !self.enter() {
            return;
        }
        let Some((first, rest)) = words.split_first() else { return self.leave() };
        let program = program_of(first);
        let programs = self.programs;
        let described = programs.find(program).map(|program| DescribedCommand::new(program, rest));
        let described = described.as_ref();
        let (ground, cwd) = (&scope.place.ground, &scope.cwd);
        let command = ShellCommand::described(first, rest, program.to_owned(), described, ground, cwd);
        let mut command = command.placed(scope);
        // What is decoded is gone through letter by letter.
        let size: usize = scope.stdin.texts.iter().map(|text| text.len()).sum();
        if decoder(program, rest).is_none() || self.spend(size / 64) {
            command.said = printed_texts(program, rest, scope);
        }
        command.typed = self.passes_typed(&command, scope);
        if self.push(command, io) {
            if self.programs.count_additions() > 0 {
                self.note_additions(program, words, io, scope);
            }
            if program.is_empty() {
                let own = self.commands.len().checked_sub(1);
                self.mark_if_typed(own, &first.from);
                self.pass_over("the program is only known when it runs", &joined(words));
                // `$(…)` in the place of a program runs what it prints.
                self.feed(&first.from, "eval");
            }
            self.touch_redirected(io, program, scope);
            self.touch_all(first, described, program, scope);
            self.consequences(described, program, rest, &io.inherited(), scope);
        }
        self.leave();
    }

    /// What the command starts, and what it changes for those after it.
    fn consequences(
        &mut self,
        described: Option<&DescribedCommand<'_>>,
        program: &str,
        words: &[Word],
        io: &Redirections,
        scope: &mut Scope,
    ) {
        self.prompted(described, program, scope);
        self.end(program, words, io, scope);
        if described.is_some_and(|described| self.interpret(described, program, scope)) {
            return;
        }
        self.feed(&scope.stdin.from.clone(), program);
        // What `<(…)` and `$(…)` print is given to it as well.
        let given = from_all(words);
        self.feed(&given, program);
        if let Some(body) = scope.function(program) {
            if multiplies(program, &body.text) {
                self.mark(self.commands.len().checked_sub(1), "fork-bomb");
            }
            // One that calls itself does the same again.
            if scope.via.iter().filter(|via| *via == program).count() > 1 {
                return;
            }
            let mut inner = scope.call(program, words);
            self.mark_called(&body);
            self.walk_function(&body, &mut inner);
            return scope.returned(inner);
        }
        if self.builtin(program, words, scope) {
            return;
        }
        self.launch(described, program, words, scope);
        self.patched(program, words, scope);
        if let Some(text) = broadcast(program, words) {
            let place = Arc::new(Where::beyond(&scope.place, Side::Remote, None, Vec::new()));
            return self.text(&text, &mut scope.through(program).moved(place, None));
        }
        if described.is_some_and(|described| self.run_elsewhere(described, program, scope))
            || self.multiplexed(program, words, scope)
        {
            return;
        }
        if let Some(wrapped) = described.and_then(unwrap) {
            return self.unwrapped(program, words, &wrapped, io, scope);
        }
        self.run_own_file(scope);
        if !self.other(program, words, scope)
            && let Some(inner) = others::hidden_delete(program, words)
        {
            self.run(inner, io, &mut scope.through(program));
        }
    }

    pub(super) fn unwrapped(
        &mut self,
        program: &str,
        words: &[Word],
        wrapped: &Wrapped<'_>,
        io: &Redirections,
        scope: &Scope,
    ) {
        let mut through = scope.through(program);
        if program == "nsenter" {
            through = through.entered(words);
        }
        if let Some(place) = &wrapped.goes {
            let known = !place.dynamic && !place.pattern;
            through.cwd.change(known.then_some(place.text.as_str()), false);
        }
        if program == "crontab" {
            if words.is_empty() || words.iter().any(|word| word.is("-") || word.is("-e")) {
                self.mark_typed_program(self.commands.len().checked_sub(1), scope);
            }
            self.feed(&scope.stdin.from.clone(), "sh");
            return self.crontab(scope);
        }
        let first = self.commands.len();
        let mut pairs = Vec::new();
        if matches!(program, "env" | "sudo" | "cross-env") {
            for (at, word) in words.iter().enumerate().take(words.len().saturating_sub(wrapped.inner.len())) {
                let Some((name, _)) = word.text.split_once('=') else { continue };
                let value = words.get(at).map(|word| word.tail(name.len() + 1)).unwrap_or_default();
                self.hooked(name, &value, scope);
                pairs.push(word.text.clone());
            }
        }
        if wrapped.shell {
            if reads_commands(program, words) {
                self.mark_typed_program(self.commands.len().checked_sub(1), scope);
            }
            self.feed(&scope.stdin.from.clone(), "sh");
            let texts = std::mem::take(&mut through.stdin.texts);
            for text in texts {
                self.text(&text, &mut through.clone());
            }
        }
        for text in &wrapped.texts {
            self.feed(&text.from, "sh");
            self.text(&text.text, &mut through.clone());
        }
        match program {
            _ if wrapped.inner.is_empty() => {}
            "xargs" => {
                self.typed_arguments(wrapped.inner, scope);
                let own = words.get(..words.len().saturating_sub(wrapped.inner.len())).unwrap_or_default();
                let inputs = self.inputs(scope);
                if replaces(own) {
                    self.run_each(&braced(own, wrapped.inner), &inputs, io, &through);
                } else {
                    self.run(&[wrapped.inner, &inputs].concat(), io, &mut through);
                }
            }
            // Some versions of such a program keep the words apart.
            _ if wrapped.joins => {
                self.text(&joined(wrapped.inner), &mut through.clone());
                let is_spaced = |word: &Word| word.text.contains(char::is_whitespace);
                if !wrapped.inner.first().is_some_and(is_spaced) && wrapped.inner.iter().any(is_spaced) {
                    self.run(wrapped.inner, io, &mut through);
                }
            }
            _ => self.run(wrapped.inner, io, &mut through),
        }
        if program == "env"
            && let Some(text) = split_string(words)
        {
            self.text(&text, &mut through);
        }
        self.started_with(first, &pairs);
    }

    /// The commands since `first` are started with these variables.
    pub(super) fn started_with(&mut self, first: usize, pairs: &[String]) {
        if !pairs.is_empty() {
            for command in self.commands.iter_mut().skip(first) {
                command.env.extend_from_slice(pairs);
            }
        }
    }

    /// A command is known to do something beyond what its words say.
    pub(super) fn mark(&mut self, command: Option<usize>, act: &'static str) {
        if let Some(command) = command.and_then(|at| self.writable(at))
            && !command.acts.contains(&act)
        {
            command.acts.push(act);
        }
    }

    /// What comes on standard input ends here, for now: a program behind this one ends it again.
    fn end(&mut self, program: &str, words: &[Word], io: &Redirections, scope: &Scope) {
        let hides = || !io.outputs.is_empty() || prints_little(program, words);
        let last = if scope.stdin.from.is_empty() || hides() { "" } else { program };
        for index in &scope.stdin.from {
            if let Some(command) = self.writable(*index) {
                command.ends_in = Some(last.to_owned());
            }
        }
    }

    /// The output of these commands reaches this program.
    pub(super) fn feed(&mut self, from: &[usize], program: &str) {
        for index in from {
            if !self.spend(1) {
                return;
            }
            if let Some(command) = self.writable(*index)
                && !command.feeds.iter().any(|known| known == program)
            {
                command.feeds.push(program.to_owned());
            }
        }
    }

    /// What comes on standard input, word by word; one more than are looked at if there are more.
    pub(super) fn inputs(&self, scope: &Scope) -> Vec<Word> {
        let sources: Vec<_> = scope.stdin.from.iter().filter_map(|index| self.commands.get(*index)).collect();
        // A filter that looks for something leaves only some of them.
        let picks = |command: &&&ShellCommand| {
            let inverts = command.options.iter().any(|option| option.is("v") || option.is("invert-match"));
            let names =
                command.operands.first().is_some_and(|word| word.text.contains(char::is_alphanumeric));
            command.program.ends_with("grep") && names && !inverts
        };
        let picked = sources.iter().any(|command| picks(&command));
        let listed = self.listed(&sources, scope);
        if picked { some_of_words(listed) } else { listed }
    }

    fn listed(&self, sources: &[&ShellCommand], scope: &Scope) -> Vec<Word> {
        let mut finds = sources.iter().filter(|command| !FILTERS.contains(&command.program.as_str()));
        match (finds.next(), finds.next()) {
            (Some(only), None) if only.program == "find" => find::targets(&only.words),
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
                let said = only.said.iter().flat_map(|text| text.split_whitespace());
                said.take(MOST_WORDS + 1).map(Word::literal).collect()
            }
            _ => vec![Word {
                text: "{}".to_owned(),
                shape: "*".to_owned(),
                dynamic: true,
                splits: true,
                from: scope.stdin.from.clone(),
                ..Word::default()
            }],
        }
    }

    /// Runs a command once for each of these, with it in the place of `{}`. All of them together may be
    /// far more than the text, so each is made when it is read.
    pub(super) fn run_each(&mut self, inner: &[Word], inputs: &[Word], io: &Redirections, scope: &Scope) {
        for input in inputs {
            let Some(command) = self.filled(inner, input) else { return };
            self.run(&command, io, &mut scope.clone());
        }
        self.exhausted |= inputs.len() > MOST_WORDS;
    }

    /// A command with a word in the place of `{}`, unless that is too much.
    pub(super) fn filled(&mut self, inner: &[Word], input: &Word) -> Option<Vec<Word>> {
        let grows = |word: &Word| word.text.matches("{}").count() * input.text.len();
        let size = inner.iter().map(|word| 1 + (word.text.len() + grows(word)) / 64).sum();
        self.spend(size).then(|| find::replace(inner, input))
    }

    /// The same, with the word at its end if there is no `{}` in it.
    pub(super) fn ended(&mut self, inner: &[Word], input: &Word) -> Option<Vec<Word>> {
        let mut command = self.filled(inner, input)?;
        if !inner.iter().any(|word| word.text.contains("{}")) {
            command.push(input.clone());
        }
        Some(command)
    }
}

/// Whether a program that starts a shell when it is given no command does so with these words.
fn reads_commands(program: &str, words: &[Word]) -> bool {
    let letters = |wanted: &[char]| {
        let options = words.iter().filter_map(|word| word.text.strip_prefix('-'));
        let mut short = options.filter(|text| !text.starts_with('-'));
        short.any(|text| text.contains(wanted))
    };
    let long = |names: &[&str]| words.iter().any(|word| names.contains(&word.text.as_str()));
    match program {
        // Without `-s` or `-i` it says how it is used, or does something else: `sudo -v`.
        "sudo" | "doas" => letters(&['s', 'i']) || long(&["--shell", "--login"]),
        "at" | "batch" => !letters(&['l', 'c', 'r', 'd', 'f', 'V']),
        _ => !long(&["--help", "--version", "-h", "-V"]),
    }
}

/// Whether a program prints nothing of what it gets, or only some letters of it: `grep -q x`, `cut -c1-4`.
fn prints_little(program: &str, words: &[Word]) -> bool {
    const MOST_LETTERS: usize = 8;
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
        "cut" => letters(&["--characters", "--bytes", "-c", "-b"]).is_some_and(|last| last <= MOST_LETTERS),
        "head" => letters(&["--bytes", "-c"]).is_some_and(|last| last <= MOST_LETTERS),
        _ => false,
    }
}

/// Whether `xargs` with these options puts its input in the place of a mark.
fn replaces(own: &[Word]) -> bool {
    let option = |word: &Word| ["-I", "-i", "--replace"].iter().any(|option| word.text.starts_with(option));
    own.iter().any(option)
}

/// The words of `xargs -I%` with `{}` in the place of its own mark.
fn braced(own: &[Word], inner: &[Word]) -> Vec<Word> {
    let at = own.iter().position(|word| word.text.starts_with("-I"));
    let attached = at.and_then(|at| own.get(at)).and_then(|word| word.text.strip_prefix("-I"));
    let mark = match attached {
        Some("") => at.and_then(|at| own.get(at + 1)).map(|word| word.text.as_str()),
        other => other,
    };
    let Some(mark) = mark.filter(|mark| !mark.is_empty() && *mark != "{}") else { return inner.to_vec() };
    let put = |word: &Word| Word {
        text: word.text.replace(mark, "{}"),
        shape: word.shape.replace(mark, "{}"),
        ..word.clone()
    };
    inner.iter().map(put).collect()
}

/// Whether a function starts itself more than once, or in the background: then there is no end of it.
pub(super) fn multiplies(name: &str, body: &str) -> bool {
    let word = |c: char| !c.is_whitespace() && !"|&;(){}<>`\"'$".contains(c);
    let times = body.split(|c| !word(c)).filter(|part| *part == name).count();
    let background = body.replace("&&", "").replace(">&", "").replace("&>", "").contains('&');
    // Without any condition there is no way out.
    let may_end = [
        "if ", "[", "case ", "&&", "||", "return", "for ", "while ", "exit", "test ", "command ", "builtin ",
    ];
    let endless = times > 1 && !may_end.iter().any(|word| body.contains(word));
    times > 1 && body.contains(['|', '&']) || times == 1 && background || endless
}

pub(super) fn joined(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Whether `ls` prints its operands rather than what is in them.
fn lists_paths(words: &[Word]) -> bool {
    words.iter().any(|word| word.pattern || word.is("-d")) && !words.iter().any(|word| word.dynamic)
}

/// `env -S 'rm -rf x'` splits the text itself.
fn split_string(words: &[Word]) -> Option<String> {
    let at = words
        .iter()
        .position(|word| word.text.starts_with("-S") || word.text.starts_with("--split-string"))?;
    let option = words.get(at)?.text.as_str();
    let attached =
        option.trim_start_matches("--split-string").trim_start_matches("-S").trim_start_matches('=');
    let rest = joined(words.get(at + 1..)?);
    Some(format!("{attached} {rest}"))
}
