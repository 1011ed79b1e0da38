// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shell text → the commands that would run.
//!
//! The text is parsed to a tree and walked in the order of execution, with what is known of
//! variables, the working directory and standard input. What cannot be understood is kept as
//! [`Unread`], so that a rule can say what then.

mod assign;
mod braces;
mod builtin;
mod chain;
mod code;
mod command;
mod decode;
mod expand;
mod far;
mod find;
mod interpret;
mod interpreter;
mod invoke;
mod launch;
mod long;
mod narrow;
mod option_values;
mod options;
mod others;
mod output;
mod parameter;
mod patched;
mod place;
mod plain;
mod prepare;
mod redirect;
mod scope;
mod side;
mod sql;
mod terminal;
mod touch;
mod transform;
mod typed;
mod unread;
mod walk;
mod word;
mod wrappers;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use tenterhook_event::{Command, ToolCall};
use tree_sitter::{Language, Node, ParseOptions, ParseState, Parser, Tree};

use super::effect::Effect;
use super::path::Ground;
pub(crate) use braces::expand_braces;
pub use command::ShellCommand;
pub(crate) use find::targets as find_targets;
pub use options::ShellOption;
use scope::Scope;
pub(crate) use sql::Statement;
pub(super) use touch::takes_all;
pub use unread::Unread;
pub use word::Word;

/// Longer texts are not read at all.
const LONGEST_TEXT: usize = 64 * 1024;
/// The parser takes quadratic time over long chains of these.
const JOINTS: &[u8] = b"|()[<";
const MOST_JOINTS: usize = 4096;
/// Steps of the parser, in its own hundreds; an ordinary command takes a handful.
const MOST_PARSER_STEPS: usize = 20_000;
/// Nodes visited, commands fed and variables copied, for all texts of one call together.
const MOST_STEPS: usize = 200_000;
const MOST_COMMANDS: usize = 1_000;
/// Texts that were not understood for the same reason.
const MOST_UNREAD: usize = 16;
/// Of texts that nobody understood, so much is looked through for words, by every rule.
const MOST_KEPT: usize = 128 * 1024;
/// Nesting of the tree and of texts in texts.
const DEEPEST: usize = 60;

/// What was read.
pub(super) struct Read {
    pub(super) commands: Vec<ShellCommand>,
    pub(super) effects: Vec<Effect>,
    /// Addresses that code connects to.
    pub(super) connects: Vec<String>,
    /// The lines that patches would add.
    pub(super) contents: Vec<String>,
    pub(super) unread: Vec<Unread>,
    pub(super) unparsed: bool,
}

/// Reads every command of a call, and the code in other languages that the tool runs itself.
/// `terminal` says that text can be typed into what runs without any hook.
pub(super) fn read(tool: &ToolCall, ground: &Ground, cwd: Option<&str>, terminal: bool) -> Read {
    read_with(tool, ground, cwd, terminal, true)
}

/// The same; plain scripts are read without the grammar, or by it.
fn read_with(tool: &ToolCall, ground: &Ground, cwd: Option<&str>, terminal: bool, plainly: bool) -> Read {
    let place = Arc::new(side::Where::here(ground));
    let mut reader = Reader {
        plainly,
        terminal,
        parser: None,
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
        called: BTreeSet::new(),
        traps: Vec::new(),
        bodies: BTreeMap::new(),
    };
    for code in tool.codes() {
        reader.tool_code(&tool.name, code, &Scope::new(cwd, Arc::clone(&place)));
        if reader.exhausted {
            reader.leave_unread("too large or too deeply nested", code);
        }
    }
    for command in &tool.commands() {
        // Nothing of it would be kept.
        if reader.commands.len() >= MOST_COMMANDS {
            reader.leave_unread("too many commands", "");
            break;
        }
        let mut scope = Scope::new(cwd, Arc::clone(&place));
        scope.stdin.typed = terminal;
        reader.exhausted = false;
        let whole = match command {
            Command::Text(text) if types(tool) => {
                let text = terminal::typed_text(text);
                reader.text(&text, &mut scope);
                text
            }
            Command::Text(text) => {
                reader.text(text, &mut scope);
                (*text).to_owned()
            }
            Command::Argv(words) => {
                let words: Vec<_> = words.iter().map(|word| Word::literal(word)).collect();
                reader.invoke(&words, &mut scope);
                words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
            }
        };
        // A function that nobody calls by its name may still be called: by a trap, by an export.
        // It may define others in its turn.
        while !reader.defined.is_empty() {
            for (body, scope) in std::mem::take(&mut reader.defined) {
                if reader.called.insert(Arc::clone(&body)) {
                    reader.body(&body, &mut scope.with_any_arguments());
                }
            }
        }
        if reader.exhausted {
            reader.leave_unread("too large or too deeply nested", &whole);
        }
    }
    Read {
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

/// A text as the grammar reads it.
struct Parsed {
    /// The text written anew, or as it was when it is no script.
    source: String,
    tree: Tree,
    understood: bool,
}

struct Reader {
    /// Whether plain scripts are read without the grammar.
    plainly: bool,
    /// Whether text can be typed into what runs without any hook.
    terminal: bool,
    parser: Option<Parser>,
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
    defined: Vec<(Arc<str>, Scope)>,
    /// Which of several values the command at hand is read with.
    choice: Option<walk::Choice>,
    called: BTreeSet<Arc<str>>,
    /// Texts that run when the script ends, with what is known then.
    traps: Vec<String>,
    /// Bodies that were parsed.
    bodies: BTreeMap<Arc<str>, Rc<Parsed>>,
}

impl Reader {
    /// Reads one text as a script, in the given scope.
    fn text(&mut self, text: &str, scope: &mut Scope) {
        // Only ever written to hide the spaces, which the grammar then does not see.
        if (text.contains("$IFS") || text.contains("${IFS}"))
            && let Some(plain) = long::without_separators(text)
        {
            return self.text(&plain, scope);
        }
        if text.len() > LONGEST_TEXT {
            return match long::without_documents(text) {
                Some(short) if short.len() <= LONGEST_TEXT => self.text(&short, scope),
                _ => self.leave_unread("longer than 64 KiB", text),
            };
        }
        // The parser takes NUL for the end of the text; a shell drops it and goes on.
        if text.contains('\0') {
            self.give_up("it contains NUL bytes", text);
            return self.text(&text.replace('\0', ""), scope);
        }
        if !self.may_parse(text) {
            return;
        }
        if self.plainly
            && let Some(script) = plain::Plain::read(text)
        {
            return self.whole(scope, |reader, scope| reader.walk_plain(script, scope));
        }
        match self.parsed(text) {
            None => self.leave_unread("the parser gave up", text),
            Some(parsed) => self.walk_parsed(&parsed, text, scope),
        }
    }

    /// Reads the body of a function, which was text before; it is parsed once.
    fn body(&mut self, body: &Arc<str>, scope: &mut Scope) {
        if let Some(parsed) = self.bodies.get(body) {
            let parsed = Rc::clone(parsed);
            return self.walk_parsed(&parsed, body, scope);
        }
        if !self.may_parse(body) {
            return;
        }
        match self.parsed(body) {
            None => self.leave_unread("the parser gave up", body),
            Some(parsed) => {
                let parsed = Rc::new(parsed);
                self.bodies.insert(Arc::clone(body), Rc::clone(&parsed));
                self.walk_parsed(&parsed, body, scope);
            }
        }
    }

    /// Spends what parsing takes. When no more commands are kept, there is nothing to find either.
    fn may_parse(&mut self, text: &str) -> bool {
        self.exhausted |= self.commands.len() >= MOST_COMMANDS;
        self.spend(1 + text.len() / 2)
    }

    fn walk_parsed(&mut self, parsed: &Parsed, text: &str, scope: &mut Scope) {
        self.whole(scope, |reader, scope| {
            if !parsed.understood {
                reader.give_up("the syntax was not understood", text);
            }
            reader.walk(parsed.tree.root_node(), &parsed.source, scope);
        });
    }

    /// Walks a whole script, and what it leaves to run at its end.
    fn whole(&mut self, scope: &mut Scope, walk: impl FnOnce(&mut Self, &mut Scope)) {
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

    fn parsed(&mut self, text: &str) -> Option<Parsed> {
        let (source, commands) = match prepare::prepare(text) {
            Some(prepared) => (prepared.text, Some(prepared.commands)),
            None => (text.to_owned(), None),
        };
        // What is no script is only looked over for words, and that only while it is short.
        let most = if commands.is_some() { MOST_JOINTS } else { MOST_JOINTS / 16 };
        if source.bytes().filter(|byte| JOINTS.contains(byte)).count() > most {
            return None;
        }
        let tree = self.parse(&source)?;
        let root = tree.root_node();
        let understood = !root.has_error() && Some(commands_in(root)) == commands;
        Some(Parsed { source, tree, understood })
    }

    fn parse(&mut self, text: &str) -> Option<Tree> {
        if self.parser.is_none() {
            let mut parser = Parser::new();
            parser.set_language(&Language::new(tree_sitter_bash::LANGUAGE)).ok()?;
            self.parser = Some(parser);
        }
        let parser = self.parser.as_mut()?;
        let mut steps = 0usize;
        let mut enough = |_: &ParseState| {
            steps += 1;
            if steps > MOST_PARSER_STEPS {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut enough);
        let bytes = text.as_bytes();
        let tree =
            parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
        if tree.is_none() {
            parser.reset();
        }
        tree
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
        unread.may_run = super::code::may_run(text);
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

/// How many commands the grammar found.
fn commands_in(root: Node<'_>) -> usize {
    let mut count = 0;
    let mut cursor = root.walk();
    loop {
        let kind = cursor.node().kind();
        if matches!(kind, "command" | "declaration_command" | "unset_command" | "test_command") {
            count += 1;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return count;
            }
        }
    }
}

#[cfg(test)]
mod tests;
