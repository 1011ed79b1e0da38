// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the commands that the terminal multiplexers `tmux` and `screen` start, and the text that they type into a
//! terminal.

use tenterhook_paths::resolve;

use super::ShellReader;
use super::invoke::join_texts;
use super::scope::{InputStream, ShellScope};
use super::word::ShellWord;

/// What a `tmux` command does with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TmuxAction {
    /// Runs the operands as shell text in a new terminal. Without operands, starts a shell.
    Starts,
    /// Runs the operands as shell text.
    Runs,
    /// Runs the first operand as shell text and the others as `tmux` commands.
    Tests,
    /// Types the operands, key by key.
    Types,
    /// Runs the operands as a `tmux` command, after skipping this many words.
    Commands(usize),
    /// Sets an option to a value.
    Sets,
    /// Loads text that can be pasted into a terminal from a file or from standard input.
    Loads,
    /// Shows an existing terminal.
    Attaches,
}

/// Relevant `tmux` commands: names, letters of options that take a value, and the action.
const TMUX_COMMANDS: &[(&[&str], &str, TmuxAction)] = &[
    (&["new-session", "new"], "cefFnstxy", TmuxAction::Starts),
    (&["new-window", "neww"], "ceFnt", TmuxAction::Starts),
    (&["split-window", "splitw"], "ceFlpt", TmuxAction::Starts),
    (&["respawn-pane", "respawnp"], "cet", TmuxAction::Starts),
    (&["respawn-window", "respawnw"], "cet", TmuxAction::Starts),
    (&["display-popup", "popup"], "bcdehsStTwxy", TmuxAction::Starts),
    (&["attach-session", "attach", "a", "at"], "cft", TmuxAction::Attaches),
    (&["run-shell", "run"], "cdt", TmuxAction::Runs),
    (&["pipe-pane", "pipep"], "t", TmuxAction::Runs),
    (&["set-buffer", "setb"], "bnt", TmuxAction::Runs),
    (&["load-buffer", "loadb"], "bt", TmuxAction::Loads),
    (&["if-shell", "if"], "t", TmuxAction::Tests),
    (&["send-keys", "send"], "tNc", TmuxAction::Types),
    (&["set-hook"], "t", TmuxAction::Commands(1)),
    (&["bind-key", "bind"], "TN", TmuxAction::Commands(1)),
    (&["confirm-before", "confirm"], "cpt", TmuxAction::Commands(0)),
    (&["command-prompt"], "IptT", TmuxAction::Commands(0)),
    (&["set-option", "set"], "t", TmuxAction::Sets),
];

/// Maximum length of a line that several commands type together.
const MAX_TYPED_LINE_BYTES: usize = 4096;
/// Letters of `tmux` options that take a value. The value of `-c` is shell text.
const TMUX_VALUE_LETTERS: &str = "cfLST";
/// Letters of `screen` options that take a value.
const SCREEN_VALUE_LETTERS: &str = "ScehpstT";

/// Options and operands of `tmux`, `screen` or one of their commands.
struct MuxOptions<'a> {
    /// Letters of options without a value.
    letters: String,
    /// Options with a value.
    values: Vec<(char, ShellWord)>,
    operands: &'a [ShellWord],
}

/// Splits words into leading options and operands.
fn split_options<'a>(words: &'a [ShellWord], takes: &str) -> MuxOptions<'a> {
    let mut options = MuxOptions { letters: String::new(), values: Vec::new(), operands: words };
    while let Some((word, after)) = options.operands.split_first() {
        let text = word.text.as_str();
        if !text.starts_with('-') || text.len() == 1 || word.may_be_option {
            break;
        }
        options.operands = after;
        if text == "--" {
            break;
        }
        for (at, letter) in text.char_indices().skip(1) {
            if !takes.contains(letter) {
                options.letters.push(letter);
                continue;
            }
            let end = at + letter.len_utf8();
            if end < text.len() {
                options.values.push((letter, word.skip_bytes(end)));
            } else if let Some((value, rest)) = after.split_first() {
                options.values.push((letter, value.clone()));
                options.operands = rest;
            }
            break;
        }
    }
    options
}

impl ShellReader<'_> {
    /// Analyses the commands that a terminal multiplexer starts or types; returns false for other programs.
    pub(super) fn run_multiplexer(&mut self, program: &str, words: &[ShellWord], scope: &ShellScope) -> bool {
        match program {
            "tmux" => self.run_tmux(words, scope),
            "screen" => self.run_screen(words, scope),
            "xdotool" | "ydotool" | "wtype" | "dotool" => self.run_keyboard(program, words, scope),
            _ => return false,
        }
        true
    }

    fn run_tmux(&mut self, words: &[ShellWord], scope: &ShellScope) {
        let own = self.last_command();
        let options = split_options(words, TMUX_VALUE_LETTERS);
        for (_, text) in options.values.iter().filter(|(letter, _)| *letter == 'c') {
            self.read_text(&text.text, &mut scope.started_by("tmux"));
        }
        if options.operands.is_empty() && !options.letters.contains('V') {
            return self.mark_typed_program(own, scope);
        }
        let ends = |word: &ShellWord| word.text.ends_with(';');
        for command in options.operands.split_inclusive(ends) {
            let last = command.last().and_then(|word| word.text.strip_suffix(';'));
            let mut command = command.to_vec();
            if let Some(last) = last {
                command.pop();
                command.extend((!last.is_empty()).then(|| ShellWord::literal(last)));
            }
            self.run_tmux_command(&command, own, scope);
        }
    }

    fn run_tmux_command(&mut self, words: &[ShellWord], own: Option<usize>, scope: &ShellScope) {
        let Some((verb, rest)) = words.split_first() else { return };
        let named = |(names, _, _): &&(&[&str], &str, TmuxAction)| {
            // `tmux` accepts abbreviated command names.
            let begun = |name: &&str| verb.text.len() > 3 && name.starts_with(&verb.text);
            names.contains(&verb.text.as_str()) || names.iter().any(begun)
        };
        let Some((_, takes, pane)) = TMUX_COMMANDS.iter().find(named) else { return };
        let options = split_options(rest, takes);
        let mut inner = scope.started_by("tmux");
        // Only an attached session reads from this terminal.
        let session = matches!(verb.text.as_str(), "new" | "new-session" | "new-s" | "new-sess");
        let shown = session && !options.letters.contains('d');
        if !shown {
            inner.stdin = InputStream::default();
        }
        match pane {
            TmuxAction::Attaches => self.mark_typed_program(own, scope),
            TmuxAction::Starts if options.operands.is_empty() => {
                if shown {
                    self.mark_typed_program(own, scope);
                }
            }
            TmuxAction::Starts | TmuxAction::Runs => {
                self.read_text(&join_texts(options.operands), &mut inner);
            }
            TmuxAction::Tests => {
                let (test, commands) = options.operands.split_at_checked(1).unwrap_or_default();
                self.read_text(&join_texts(test), &mut inner);
                for command in commands {
                    self.run_nested_tmux(std::slice::from_ref(command), scope);
                }
            }
            TmuxAction::Types if options.letters.contains('X') => {}
            TmuxAction::Types => {
                let text = if options.letters.contains('H') {
                    keys_from_hex(options.operands)
                } else {
                    typed_keys(options.operands, options.letters.contains('l'))
                };
                self.read_typed_text(&text, &mut inner);
            }
            TmuxAction::Loads => {
                let file = options.operands.first().filter(|file| !file.is("-"));
                let path = file.and_then(|file| resolve(scope.cwd.expected(), &file.text));
                let texts = match path {
                    Some(path) => self.script_text(&path, scope).into_iter().map(Into::into).collect(),
                    None => scope.stdin.texts.clone(),
                };
                for text in texts {
                    self.read_text(&text, &mut inner.clone());
                }
            }
            TmuxAction::Commands(skipped) => {
                self.run_nested_tmux(options.operands.get(*skipped..).unwrap_or_default(), scope);
            }
            TmuxAction::Sets => {
                let runs = options.operands.first().is_some_and(|name| name.text.starts_with("default-"));
                if runs {
                    self.read_text(&join_texts(options.operands.get(1..).unwrap_or_default()), &mut inner);
                }
            }
        }
    }

    /// Analyses text that is typed into a terminal. Several commands may type one line together.
    fn read_typed_text(&mut self, text: &str, scope: &mut ShellScope) {
        self.typed_line.push_str(text);
        let typed = self.typed_line.clone();
        self.read_text(&typed, scope);
        if is_sql_statement(&typed) {
            let words = ["psql", "-c", typed.as_str()].map(ShellWord::literal);
            self.run_words(&words, scope);
        }
        if typed.ends_with('\n') || typed.len() > MAX_TYPED_LINE_BYTES {
            self.typed_line.clear();
        }
    }

    /// Analyses a `tmux` command that is given as text.
    fn run_nested_tmux(&mut self, words: &[ShellWord], scope: &ShellScope) {
        self.read_text(&format!("tmux {}", join_texts(words)), &mut scope.started_by("tmux"));
    }

    fn run_screen(&mut self, words: &[ShellWord], scope: &ShellScope) {
        let own = self.last_command();
        let mut options = split_options(words, SCREEN_VALUE_LETTERS);
        // `screen -X -S name stuff x`, `screen -r name -X stuff x`: options may follow `-X`, and a name may precede it.
        let at = words.iter().position(|word| word.is("-X"));
        let after = at.and_then(|at| words.get(at + 1..)).filter(|_| !options.letters.contains('X'));
        if options.letters.contains('X') || after.is_some() {
            let rest = after.unwrap_or(options.operands);
            options.operands = self::split_options(rest, SCREEN_VALUE_LETTERS).operands;
            return self.run_screen_command(options.operands, scope);
        }
        let lists = ["-ls", "-list", "-wipe", "-v", "--version", "--help"];
        let detached = options.letters.contains('d') && options.letters.contains('m');
        let attaches = options.letters.contains(['r', 'R', 'x']);
        if words.iter().any(|word| lists.contains(&word.text.as_str())) {
            return;
        }
        if attaches || options.operands.is_empty() && !detached {
            self.mark_typed_program(own, scope);
        }
        if !attaches && !options.operands.is_empty() {
            let mut inner = scope.started_by("screen");
            if detached {
                inner.stdin = InputStream::default();
            }
            self.run_words(options.operands, &mut inner);
        }
    }

    /// Analyses what a program types into the focused window: `xdotool search x type --delay 5 'ls'`.
    fn run_keyboard(&mut self, program: &str, words: &[ShellWord], scope: &ShellScope) {
        let from = match words.iter().position(|word| word.is("type")) {
            Some(at) => at + 1,
            None if program == "wtype" => 0,
            None => return,
        };
        let mut texts = Vec::new();
        let mut rest = words.get(from..).unwrap_or_default().iter();
        while let Some(word) = rest.next() {
            match word.text.as_str() {
                "--delay" | "--window" | "--key-delay" | "--key-hold" | "--args" | "-d" | "-s" | "-k"
                | "-M" => {
                    rest.next();
                }
                text if text.starts_with('-') => {}
                _ => texts.push(word.clone()),
            }
        }
        let mut inner = scope.started_by(program);
        inner.stdin = InputStream::default();
        self.read_typed_text(&format!("{}\n", join_texts(&texts)), &mut inner);
    }

    fn run_screen_command(&mut self, words: &[ShellWord], scope: &ShellScope) {
        // In `bind k stuff x` the command follows a key.
        let verb = |word: &ShellWord| {
            matches!(word.text.as_str(), "stuff" | "exec" | "screen" | "eval" | "register")
        };
        let Some(at) = words.iter().take(3).position(verb) else { return };
        let rest = words.get(at + 1..).unwrap_or_default();
        let mut inner = scope.started_by("screen");
        inner.stdin = InputStream::default();
        match words.get(at).map(|word| word.text.as_str()) {
            Some("stuff") => self.read_typed_text(&unescape_stuffed(&join_texts(rest)), &mut inner),
            Some("register") => {
                self.read_text(&unescape_stuffed(&join_texts(rest.get(1..).unwrap_or_default())), &mut inner);
            }
            Some("eval") => {
                for text in rest {
                    let nested = text.text.splitn(2, ' ').map(|part| part.trim_matches(['"', '\'']));
                    let nested: Vec<_> = nested.map(ShellWord::literal).collect();
                    self.run_screen_command(&nested, scope);
                }
            }
            _ => {
                // `exec .!. cmd` begins with a pattern for file descriptors.
                let joint =
                    |word: &ShellWord| !word.text.is_empty() && word.text.chars().all(|c| ".!:|".contains(c));
                let from = usize::from(rest.first().is_some_and(joint));
                self.run_words(rest.get(from..).unwrap_or_default(), &mut inner);
            }
        }
    }
}

/// First words of SQL statements that change data.
const SQL_VERBS: &[&str] = &["alter", "delete", "drop", "truncate", "update"];

/// Whether typed text is a statement for a database client.
fn is_sql_statement(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    text.contains(';') && SQL_VERBS.iter().any(|verb| first.eq_ignore_ascii_case(verb))
}

/// Returns the text that `tmux send-keys` types. Names of keys are replaced by the key.
fn typed_keys(words: &[ShellWord], literal: bool) -> String {
    let key = |word: &ShellWord| match word.text.as_str() {
        text if literal => text.to_owned(),
        "Enter" | "KPEnter" | "C-m" | "C-j" => "\n".to_owned(),
        "Space" => " ".to_owned(),
        "Tab" | "C-i" => "\t".to_owned(),
        text if is_control_key(text) => "\n".to_owned(),
        text => text.to_owned(),
    };
    words.iter().map(key).collect()
}

/// Whether a key name is a control key, which types no character.
fn is_control_key(text: &str) -> bool {
    matches!(text, "Escape" | "Up" | "Down" | "Left" | "Right" | "Home" | "End" | "BSpace" | "DC")
        || (text.starts_with("C-") || text.starts_with("M-") || text.starts_with('^'))
            && text.chars().count() <= 3
}

/// Returns the text that `tmux send-keys -H` types, given as hexadecimal character codes.
fn keys_from_hex(words: &[ShellWord]) -> String {
    let letter = |word: &ShellWord| u32::from_str_radix(&word.text, 16).ok().and_then(char::from_u32);
    words.iter().filter_map(letter).map(|letter| if letter == '\r' { '\n' } else { letter }).collect()
}

/// Returns the text that `screen -X stuff` types.
fn unescape_stuffed(text: &str) -> String {
    let plain = text.replace("^M", "\n").replace("^J", "\n").replace("\\015", "\n").replace("\\012", "\n");
    super::expand::unescape(&plain).replace('\r', "\n")
}

/// Returns the text that a tool of a harness types into a terminal, with keys such as `{enter}` replaced.
pub(super) fn typed_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let key = behind.find('}').and_then(|end| behind.get(1..end));
        let letters = match key {
            Some("tab") => "\t",
            Some("space") => " ",
            Some(
                "enter" | "return" | "up" | "down" | "left" | "right" | "escape" | "esc" | "backspace"
                | "home" | "end" | "delete",
            ) => "\n",
            _ => {
                out.push('{');
                rest = behind.get(1..).unwrap_or_default();
                continue;
            }
        };
        out.push_str(letters);
        rest = behind.get(key.map_or(0, str::len) + 2..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
