// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Terminal multiplexers: what `tmux` and `screen` start, and what they type into a terminal.

use super::Reader;
use super::invoke::joined;
use super::scope::{Scope, Stream};
use super::word::Word;

/// What a command of `tmux` does with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pane {
    /// They are a text for a shell in a new terminal; without any, a shell is started.
    Starts,
    /// They are a text for a shell.
    Runs,
    /// The first is a text for a shell, the others are commands of `tmux`.
    Tests,
    /// They are typed, key by key.
    Types,
    /// They are a command of `tmux`, behind so many other words.
    Commands(usize),
    /// A setting and its value.
    Sets,
    /// It shows a terminal that is there already.
    Attaches,
}

/// The commands of `tmux` that matter: their names, the letters of their options that take a value.
const TMUX: &[(&[&str], &str, Pane)] = &[
    (&["new-session", "new"], "cefFnstxy", Pane::Starts),
    (&["new-window", "neww"], "ceFnt", Pane::Starts),
    (&["split-window", "splitw"], "ceFlpt", Pane::Starts),
    (&["respawn-pane", "respawnp"], "cet", Pane::Starts),
    (&["respawn-window", "respawnw"], "cet", Pane::Starts),
    (&["display-popup", "popup"], "bcdehsStTwxy", Pane::Starts),
    (&["attach-session", "attach", "a", "at"], "cft", Pane::Attaches),
    (&["run-shell", "run"], "cdt", Pane::Runs),
    (&["pipe-pane", "pipep"], "t", Pane::Runs),
    (&["set-buffer", "setb"], "bnt", Pane::Runs),
    (&["if-shell", "if"], "t", Pane::Tests),
    (&["send-keys", "send"], "tNc", Pane::Types),
    (&["set-hook"], "t", Pane::Commands(1)),
    (&["bind-key", "bind"], "TN", Pane::Commands(1)),
    (&["confirm-before", "confirm"], "cpt", Pane::Commands(0)),
    (&["command-prompt"], "IptT", Pane::Commands(0)),
    (&["set-option", "set"], "t", Pane::Sets),
];

/// The options of `tmux` itself that take a value; that of `-c` is a text for a shell.
const TMUX_VALUES: &str = "cfLST";
/// The options of `screen` that take a value.
const SCREEN_VALUES: &str = "ScehpstT";

/// Options and operands.
struct Told<'a> {
    /// The letters of options, without those that are values.
    letters: String,
    /// Options with their values.
    values: Vec<(char, Word)>,
    operands: &'a [Word],
}

/// Tells the options before the operands apart.
fn told<'a>(words: &'a [Word], takes: &str) -> Told<'a> {
    let mut told = Told { letters: String::new(), values: Vec::new(), operands: words };
    while let Some((word, after)) = told.operands.split_first() {
        let text = word.text.as_str();
        if !text.starts_with('-') || text.len() == 1 || word.opens {
            break;
        }
        told.operands = after;
        if text == "--" {
            break;
        }
        for (at, letter) in text.char_indices().skip(1) {
            if !takes.contains(letter) {
                told.letters.push(letter);
                continue;
            }
            let end = at + letter.len_utf8();
            if end < text.len() {
                told.values.push((letter, word.tail(end)));
            } else if let Some((value, rest)) = after.split_first() {
                told.values.push((letter, value.clone()));
                told.operands = rest;
            }
            break;
        }
    }
    told
}

impl Reader<'_> {
    /// What a terminal multiplexer starts or types; false for any other program.
    pub(super) fn multiplexed(&mut self, program: &str, words: &[Word], scope: &Scope) -> bool {
        match program {
            "tmux" => self.tmux(words, scope),
            "screen" => self.screen(words, scope),
            _ => return false,
        }
        true
    }

    fn tmux(&mut self, words: &[Word], scope: &Scope) {
        let own = self.commands.len().checked_sub(1);
        let told = told(words, TMUX_VALUES);
        for (_, text) in told.values.iter().filter(|(letter, _)| *letter == 'c') {
            self.text(&text.text, &mut scope.through("tmux"));
        }
        if told.operands.is_empty() && !told.letters.contains('V') {
            return self.mark_typed_program(own, scope);
        }
        let ends = |word: &Word| word.text.ends_with(';');
        for command in told.operands.split_inclusive(ends) {
            let last = command.last().and_then(|word| word.text.strip_suffix(';'));
            let mut command = command.to_vec();
            if let Some(last) = last {
                command.pop();
                command.extend((!last.is_empty()).then(|| Word::literal(last)));
            }
            self.tmux_command(&command, own, scope);
        }
    }

    fn tmux_command(&mut self, words: &[Word], own: Option<usize>, scope: &Scope) {
        let Some((verb, rest)) = words.split_first() else { return };
        let named = |(names, _, _): &&(&[&str], &str, Pane)| {
            // It takes the beginning of a name for the name.
            let begun = |name: &&str| verb.text.len() > 3 && name.starts_with(&verb.text);
            names.contains(&verb.text.as_str()) || names.iter().any(begun)
        };
        let Some((_, takes, pane)) = TMUX.iter().find(named) else { return };
        let told = told(rest, takes);
        let mut inner = scope.through("tmux");
        // Only a session that is shown here has this terminal for its input.
        let session = matches!(verb.text.as_str(), "new" | "new-session" | "new-s" | "new-sess");
        let shown = session && !told.letters.contains('d');
        if !shown {
            inner.stdin = Stream::default();
        }
        match pane {
            Pane::Attaches => self.mark_typed_program(own, scope),
            Pane::Starts if told.operands.is_empty() => {
                if shown {
                    self.mark_typed_program(own, scope);
                }
            }
            Pane::Starts | Pane::Runs => self.text(&joined(told.operands), &mut inner),
            Pane::Tests => {
                let (test, commands) = told.operands.split_at_checked(1).unwrap_or_default();
                self.text(&joined(test), &mut inner);
                for command in commands {
                    self.nested_tmux(std::slice::from_ref(command), scope);
                }
            }
            Pane::Types if told.letters.contains('X') => {}
            Pane::Types => {
                let text = if told.letters.contains('H') {
                    hexadecimal(told.operands)
                } else {
                    typed_keys(told.operands, told.letters.contains('l'))
                };
                self.text(&text, &mut inner);
            }
            Pane::Commands(skipped) => {
                self.nested_tmux(told.operands.get(*skipped..).unwrap_or_default(), scope);
            }
            Pane::Sets => {
                let runs = told.operands.first().is_some_and(|name| name.text.starts_with("default-"));
                if runs {
                    self.text(&joined(told.operands.get(1..).unwrap_or_default()), &mut inner);
                }
            }
        }
    }

    /// A command of `tmux` in a text of its own.
    fn nested_tmux(&mut self, words: &[Word], scope: &Scope) {
        self.text(&format!("tmux {}", joined(words)), &mut scope.through("tmux"));
    }

    fn screen(&mut self, words: &[Word], scope: &Scope) {
        let own = self.commands.len().checked_sub(1);
        let mut told = told(words, SCREEN_VALUES);
        let commands = told.letters.contains('X');
        // `screen -X -S name stuff x`, and an option's own operand: `-r name`.
        if commands {
            let more = self::told(told.operands, SCREEN_VALUES);
            told.operands = more.operands;
            return self.screen_command(told.operands, scope);
        }
        let lists = ["-ls", "-list", "-wipe", "-v", "--version", "--help"];
        let detached = told.letters.contains('d') && told.letters.contains('m');
        let attaches = told.letters.contains(['r', 'R', 'x']);
        if words.iter().any(|word| lists.contains(&word.text.as_str())) {
            return;
        }
        if attaches || told.operands.is_empty() && !detached {
            self.mark_typed_program(own, scope);
        }
        if !attaches && !told.operands.is_empty() {
            let mut inner = scope.through("screen");
            if detached {
                inner.stdin = Stream::default();
            }
            self.invoke(told.operands, &mut inner);
        }
    }

    fn screen_command(&mut self, words: &[Word], scope: &Scope) {
        // `bind k stuff x` has its command behind a key.
        let verb =
            |word: &Word| matches!(word.text.as_str(), "stuff" | "exec" | "screen" | "eval" | "register");
        let Some(at) = words.iter().take(3).position(verb) else { return };
        let rest = words.get(at + 1..).unwrap_or_default();
        let mut inner = scope.through("screen");
        inner.stdin = Stream::default();
        match words.get(at).map(|word| word.text.as_str()) {
            Some("stuff") => self.text(&unescaped(&joined(rest)), &mut inner),
            Some("register") => {
                self.text(&unescaped(&joined(rest.get(1..).unwrap_or_default())), &mut inner);
            }
            Some("eval") => {
                for text in rest {
                    let nested = text.text.splitn(2, ' ').map(|part| part.trim_matches(['"', '\'']));
                    let nested: Vec<_> = nested.map(Word::literal).collect();
                    self.screen_command(&nested, scope);
                }
            }
            _ => {
                // `exec .!. cmd` says which ends are joined.
                let joint =
                    |word: &Word| !word.text.is_empty() && word.text.chars().all(|c| ".!:|".contains(c));
                let from = usize::from(rest.first().is_some_and(joint));
                self.invoke(rest.get(from..).unwrap_or_default(), &mut inner);
            }
        }
    }
}

/// What `tmux send-keys` types: names of keys are those keys, anything else is its own letters.
fn typed_keys(words: &[Word], literal: bool) -> String {
    let key = |word: &Word| match word.text.as_str() {
        text if literal => text.to_owned(),
        "Enter" | "KPEnter" | "C-m" | "C-j" => "\n".to_owned(),
        "Space" => " ".to_owned(),
        "Tab" | "C-i" => "\t".to_owned(),
        text if is_control(text) => "\n".to_owned(),
        text => text.to_owned(),
    };
    words.iter().map(key).collect()
}

/// Whether it is a key without a letter of its own.
fn is_control(text: &str) -> bool {
    matches!(text, "Escape" | "Up" | "Down" | "Left" | "Right" | "Home" | "End" | "BSpace" | "DC")
        || (text.starts_with("C-") || text.starts_with("M-") || text.starts_with('^'))
            && text.chars().count() <= 3
}

/// What `tmux send-keys -H` types: numbers of letters.
fn hexadecimal(words: &[Word]) -> String {
    let letter = |word: &Word| u32::from_str_radix(&word.text, 16).ok().and_then(char::from_u32);
    words.iter().filter_map(letter).map(|letter| if letter == '\r' { '\n' } else { letter }).collect()
}

/// What `screen -X stuff` types.
fn unescaped(text: &str) -> String {
    let plain = text.replace("^M", "\n").replace("^J", "\n").replace("\\015", "\n").replace("\\012", "\n");
    super::expand::unescape(&plain).replace('\r', "\n")
}

/// Text that a harness's own tool types into a terminal: `{enter}` is a key.
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
