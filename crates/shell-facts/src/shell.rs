// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shell text → the commands that would run.
//!
//! The text is parsed to a syntax tree, which is walked in the order of execution, with what is known of
//! variables, the working directory and standard input. What cannot be understood is kept as
//! [`Unread`], so that a rule can say what then.

mod added_reading;
mod assign;
mod braces;
mod builtin;
mod chain;
mod code;
mod command;
mod compound;
mod decode;
mod endless;
mod expand;
mod far;
mod find;
mod interpret;
mod interpreter;
mod invoke;
mod launch;
mod narrow;
mod options;
mod others;
mod output;
mod parameter;
mod patched;
mod place;
mod printed_text;
mod redirect;
mod scope;
mod side;
mod simple_command;
mod sql;
mod terminal;
mod touch;
mod typed;
mod unread;
mod walk;
mod word;
mod wrappers;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use tenterhook_event::{Command, ToolCall};
use tenterhook_paths::{Certainty, Ground};
use tenterhook_programs::Programs;
use tenterhook_shell::{Parsed, Readings, parse_readings};

use super::TextSpan;
use super::effect::Effect;
use added_reading::AddedReading;
pub use braces::expand_braces;
pub use command::ShellCommand;
pub(crate) use find::targets as find_targets;
pub use options::ShellOption;
use scope::Scope;
use simple_command::Choice;
pub use sql::SqlStatement;
pub use touch::takes_all;
pub use unread::Unread;
use walk::{FunctionBody, Source};
pub use word::Word;

/// Longer texts are not read at all.
const MAX_TEXT_BYTES: usize = 1024 * 1024;
/// Nodes visited, commands fed and variables copied, for all texts of one call together.
const MOST_STEPS: usize = 200_000;
/// Words and variables copied for readings by descriptions that the policy adds.
const MAX_ADDITION_STEPS: usize = 50_000;
const MOST_COMMANDS: usize = 1_000;
/// Texts that were not understood for the same reason.
const MOST_UNREAD: usize = 16;
/// Of texts that nobody understood, so much is looked through for words, by every rule.
const MOST_KEPT: usize = 128 * 1024;
/// Nesting of the tree and of texts in texts.
const DEEPEST: usize = 60;

/// What was read.
#[derive(Debug)]
pub struct ShellReading {
    /// Every command that would run.
    pub commands: Vec<ShellCommand>,
    /// What commands and code would do to files.
    pub effects: Vec<Effect>,
    /// Addresses that code connects to.
    pub connects: Vec<String>,
    /// The lines that patches would add.
    pub contents: Vec<String>,
    /// The texts that could not be understood, or that nobody reads.
    pub unread: Vec<Unread>,
    /// Whether some shell text could not be understood.
    pub unparsed: bool,
}

/// Reads every command of a call, and the code in other languages that the tool runs itself.
/// `terminal` says that text can be typed into what runs without any hook.
pub fn read_commands(
    tool: &ToolCall,
    ground: &Ground,
    cwd: Option<&str>,
    terminal: bool,
    programs: &Programs,
) -> ShellReading {
    let place = Arc::new(side::Where::here(ground));
    let mut reader = Reader {
        programs,
        terminal,
        commands: Vec::new(),
        effects: Vec::new(),
        connects: Vec::new(),
        contents: Vec::new(),
        running: BTreeSet::new(),
        quiet: false,
        unread: Vec::new(),
        room: MOST_KEPT,
        unparsed: false,
        steps: MOST_STEPS,
        depth: 0,
        exhausted: false,
        defined: Vec::new(),
        choice: None,
        certainty: Certainty::Certain,
        reports_syntax: true,
        span: None,
        texts_entered: 0,
        called: Vec::new(),
        traps: Vec::new(),
        additions: Vec::new(),
        addition_steps: MAX_ADDITION_STEPS,
        left_out: Vec::new(),
        first_writable: 0,
        copies: Vec::new(),
    };
    for code in tool.codes() {
        reader.tool_code(&tool.name, code, &Scope::new(cwd, Arc::clone(&place)));
        if reader.exhausted {
            reader.leave_unread("too large or too deeply nested", code);
        }
    }
    for (number, command) in tool.commands().iter().enumerate() {
        // Nothing of it would be kept.
        if reader.commands.len() >= MOST_COMMANDS {
            reader.leave_unread("too many commands", "");
            break;
        }
        let mut scope = Scope::new(cwd, Arc::clone(&place));
        scope.stdin.typed = terminal;
        reader.exhausted = false;
        reader.span = match command {
            Command::Text(_) => {
                Some(TextSpan { text: u32::try_from(number).unwrap_or(u32::MAX), start: 0, end: 0 })
            }
            Command::Argv(_) => None,
        };
        let whole = match command {
            Command::Text(text) if types(tool) => {
                let text = terminal::typed_text(text);
                reader.text(&text, &mut scope);
                Cow::Owned(text)
            }
            Command::Text(text) => {
                reader.text(text, &mut scope);
                Cow::Borrowed(*text)
            }
            Command::Argv(words) => {
                let words: Vec<_> = words.iter().map(|word| Word::literal(word)).collect();
                reader.invoke(&words, &mut scope);
                Cow::Owned(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
            }
        };
        reader.walk_defined();
        if reader.exhausted {
            reader.leave_unread("too large or too deeply nested", &whole);
        }
    }
    reader.read_additions();
    ShellReading {
        commands: reader.commands,
        effects: reader.effects,
        connects: reader.connects,
        contents: reader.contents,
        unread: reader.unread,
        unparsed: reader.unparsed,
    }
}

/// Whether a tool types its text into a shell that runs already, key by key.
fn types(tool: &ToolCall) -> bool {
    matches!(tool.name.as_str(), "write_bash" | "write_powershell")
}

struct Reader<'p> {
    /// The descriptions of programs.
    programs: &'p Programs,
    /// Whether text can be typed into what runs without any hook.
    terminal: bool,
    commands: Vec<ShellCommand>,
    effects: Vec<Effect>,
    connects: Vec<String>,
    contents: Vec<String>,
    /// Files written by the same line that are being run.
    running: BTreeSet<String>,
    /// Whether the commands only stand for what another does, which has told its effects.
    quiet: bool,
    unread: Vec<Unread>,
    /// How much more of such texts is kept.
    room: usize,
    unparsed: bool,
    steps: usize,
    depth: usize,
    exhausted: bool,
    /// Bodies of functions, with the scope they were defined in.
    defined: Vec<(Arc<FunctionBody>, Scope)>,
    /// Which of several values the command at hand is read with.
    choice: Option<Choice>,
    /// How sure it is that what is read runs.
    certainty: Certainty,
    /// Whether text that the parser does not understand is reported.
    reports_syntax: bool,
    /// The part of the call that is read; `None` in words that are given one by one.
    span: Option<TextSpan>,
    /// How many texts are being read: the second is inside the first.
    texts_entered: usize,
    /// Functions whose body was walked.
    called: Vec<Arc<FunctionBody>>,
    /// Texts that run when the script ends, with what is known then.
    traps: Vec<String>,
    /// Commands to be read once more, by descriptions that the policy adds.
    additions: Vec<AddedReading>,
    addition_steps: usize,
    /// Commands that there was no room to read once more.
    left_out: Vec<String>,
    /// Commands before this one are not changed any more.
    first_writable: usize,
    /// Copies of such commands, with what was found out about them since.
    copies: Vec<(usize, ShellCommand)>,
}

impl Reader<'_> {
    /// Reads one text as a script, in the given scope.
    fn text(&mut self, text: &str, scope: &mut Scope) {
        if text.len() > MAX_TEXT_BYTES {
            return self.leave_unread("longer than 1 MiB", text);
        }
        // A shell drops NUL bytes and goes on.
        if text.contains('\0') {
            self.give_up("it contains NUL bytes", text);
            return self.text(&text.replace('\0', ""), scope);
        }
        // When no more commands are kept, there is nothing to find either.
        self.exhausted |= self.commands.len() >= MOST_COMMANDS;
        if !self.spend(1 + text.len() / 8) {
            return;
        }
        let Readings { bash, zsh } = parse_readings(text, false);
        let source: Source = text.into();
        let (certainty, reports) = (self.certainty, self.reports_syntax);
        // A text that one of the shells understands completely needs no question about its syntax.
        self.reports_syntax = !zsh.as_ref().is_some_and(Parsed::is_complete);
        let before = zsh.is_some().then(|| scope.clone());
        self.walk_parsed(&bash, &source, scope);
        // The shell may be zsh. Either shell runs the lines before one that it refuses, so both trees are walked.
        if let (Some(zsh), Some(mut before)) = (zsh, before) {
            (self.certainty, self.reports_syntax) = (Certainty::Possible, false);
            self.walk_parsed(&zsh, &source, &mut before);
        }
        (self.certainty, self.reports_syntax) = (certainty, reports);
    }

    fn walk_parsed(&mut self, parsed: &Parsed, source: &Source, scope: &mut Scope) {
        let (span, entered) = (self.span, self.texts_entered);
        self.texts_entered += 1;
        self.with_exit_traps(scope, |reader, scope| reader.walk_script(&parsed.script, source, scope));
        (self.span, self.texts_entered) = (span, entered);
    }

    /// Walks a script, and then what it leaves to run at its end.
    fn with_exit_traps(&mut self, scope: &mut Scope, walk: impl FnOnce(&mut Self, &mut Scope)) {
        if !self.enter() {
            return;
        }
        let outer = std::mem::take(&mut self.traps);
        walk(self, scope);
        for trap in std::mem::replace(&mut self.traps, outer) {
            self.text(&trap, &mut scope.through("trap"));
        }
        self.leave();
    }

    /// Walks functions that are not called by their name: a trap or an export may call them. They may define
    /// others in turn.
    fn walk_defined(&mut self) {
        self.certainty = Certainty::Possible;
        while !self.defined.is_empty() {
            for (body, scope) in std::mem::take(&mut self.defined) {
                if self.mark_called(&body) {
                    self.walk_function(&body, &mut scope.with_any_arguments());
                }
            }
        }
        self.certainty = Certainty::Certain;
    }

    /// Remembers that a function runs; false if it was known to run.
    fn mark_called(&mut self, body: &Arc<FunctionBody>) -> bool {
        let is_new = !self.called.iter().any(|called| Arc::ptr_eq(called, body));
        if is_new {
            self.called.push(Arc::clone(body));
        }
        is_new
    }

    /// The text counts as not understood.
    fn give_up(&mut self, why: &'static str, text: &str) {
        self.unparsed = true;
        // Parts of what was not understood say nothing new.
        if self.unread.iter().filter(|unread| unread.why == why).count() < MOST_UNREAD {
            let unread = self.unread_text(why, text, true);
            self.keep(unread);
        } else {
            self.exhausted = true;
        }
    }

    /// Nothing of the text is read: it may be about anything.
    fn leave_unread(&mut self, why: &'static str, text: &str) {
        let mut unread = self.unread_text(why, text, true);
        unread.whole = true;
        self.keep(unread);
    }

    /// The text is not shell, or not known: nobody reads it.
    fn pass_over(&mut self, why: &'static str, text: &str) {
        let unread = self.unread_text(why, text, false);
        self.keep(unread);
    }

    /// The text is code of which the calls are known; the rest of it nobody reads.
    fn look_over(&mut self, text: &str) {
        let mut unread = self.unread_text("it is code in another language", text, false);
        unread.seen = true;
        unread.may_run = tenterhook_code_facts::may_run(text);
        self.keep(unread);
    }

    /// A text, as much of it as there is room for.
    fn unread_text(&mut self, why: &'static str, text: &str, shell: bool) -> Unread {
        // What may be about anything already needs no words.
        let most = if self.is_any() { 0 } else { self.room };
        let unread = Unread::new(why, text, shell, most);
        self.room = self.room.saturating_sub(text.len());
        unread
    }

    fn keep(&mut self, unread: Unread) {
        self.unparsed |= unread.whole;
        if !unread.whole || !self.is_any() {
            self.unread.push(unread);
        }
    }

    /// Whether enough texts may be about anything.
    fn is_any(&self) -> bool {
        self.unread.iter().filter(|unread| unread.whole).count() >= MOST_UNREAD
    }

    /// One level deeper; false when there is no going deeper.
    fn enter(&mut self) -> bool {
        if self.depth >= DEEPEST || self.exhausted {
            self.exhausted = true;
            return false;
        }
        self.depth += 1;
        true
    }

    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Spends steps; false when none are left.
    fn spend(&mut self, steps: usize) -> bool {
        match self.steps.checked_sub(steps) {
            Some(left) if !self.exhausted => {
                self.steps = left;
                true
            }
            _ => {
                self.exhausted = true;
                false
            }
        }
    }
}

#[cfg(test)]
mod tests;
