// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Splits a shell script into simple commands, for Claude Code's `if`.
//!
//! This is not a full parser. For unclear syntax it returns an additional command or `None`, and the hook then runs.
//! Rules do not use this module; they use the full shell parser.

/// The simple commands of a shell script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SimpleCommands {
    pub(super) commands: Vec<Vec<UnquotedWord>>,
    /// Whether a part of the script is known only at run time: `$x`, `$(…)`, backticks.
    pub(super) dynamic: bool,
}

/// One word, without its quotes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct UnquotedWord {
    pub(super) text: String,
    /// Whether a part of the word is known only at run time.
    pub(super) dynamic: bool,
    started: bool,
}

impl From<&str> for UnquotedWord {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), dynamic: false, started: true }
    }
}

/// The construct that contains a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShellNesting {
    /// `( … )`, `$( … )`, `<( … )`.
    Parenthesis,
    Backtick,
}

#[derive(Default)]
struct CommandSplitter {
    done: Vec<Vec<UnquotedWord>>,
    words: Vec<UnquotedWord>,
    word: UnquotedWord,
    quoted: bool,
    /// State outside the construct, and whether the construct was in double quotes.
    outside: Vec<(ShellNesting, Vec<UnquotedWord>, UnquotedWord, bool)>,
    dynamic: bool,
}

/// Splits a script at `&&`, `||`, `;`, `|`, `&`, line ends and parentheses, also inside substitutions. Returns `None`
/// if quotes, parentheses or backticks are not closed.
pub(super) fn script(text: &str) -> Option<SimpleCommands> {
    let mut reader = CommandSplitter::default();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        match letter {
            '\\' => match letters.next() {
                Some('\n') => {}
                Some(escaped) => reader.push(escaped),
                None => return None,
            },
            '\'' if !reader.quoted => loop {
                reader.word.started = true;
                match letters.next()? {
                    '\'' => break,
                    inside => reader.push(inside),
                }
            },
            // A here-document follows, in which quotes need not be balanced.
            '<' if next == Some('<') && !reader.quoted => return None,
            '$' if next == Some('\'') && !reader.quoted => return None,
            '#' if !reader.quoted && !reader.word.started => {
                while letters.next_if(|letter| *letter != '\n').is_some() {}
            }
            '"' => {
                reader.quoted = !reader.quoted;
                reader.word.started = true;
            }
            '$' if next == Some('(') => {
                letters.next();
                reader.enter(ShellNesting::Parenthesis, true);
            }
            '`' if reader.inside() == Some(ShellNesting::Backtick) && !reader.quoted => {
                reader.leave(ShellNesting::Backtick)?;
            }
            '`' => reader.enter(ShellNesting::Backtick, true),
            '$' => {
                reader.dynamic = true;
                reader.word.dynamic = true;
                reader.push('$');
            }
            letter if reader.quoted => reader.push(letter),
            '(' => reader.enter(ShellNesting::Parenthesis, reader.word.started),
            ')' => reader.leave(ShellNesting::Parenthesis)?,
            ';' | '&' | '|' | '\n' => reader.end_command(),
            letter if letter.is_whitespace() => reader.end_word(),
            letter => reader.push(letter),
        }
    }
    if reader.quoted || !reader.outside.is_empty() {
        return None;
    }
    reader.end_command();
    Some(SimpleCommands { commands: reader.done, dynamic: reader.dynamic })
}

impl CommandSplitter {
    fn push(&mut self, letter: char) {
        self.word.started = true;
        self.word.text.push(letter);
    }

    fn end_word(&mut self) {
        if self.word.started {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.done.push(std::mem::take(&mut self.words));
        }
    }

    fn inside(&self) -> Option<ShellNesting> {
        self.outside.last().map(|(level, ..)| *level)
    }

    /// Enters a nested construct. `substitutes` says whether its result becomes part of the surrounding word.
    fn enter(&mut self, level: ShellNesting, substitutes: bool) {
        if substitutes {
            self.dynamic = true;
            self.word.dynamic = true;
            self.word.started = true;
        }
        let (words, word) = (std::mem::take(&mut self.words), std::mem::take(&mut self.word));
        self.outside.push((level, words, word, std::mem::take(&mut self.quoted)));
    }

    fn leave(&mut self, level: ShellNesting) -> Option<()> {
        self.end_command();
        let (entered, words, word, quoted) = self.outside.pop()?;
        (self.words, self.word, self.quoted) = (words, word, quoted);
        (entered == level).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(text: &str) -> Vec<String> {
        let script = script(text).unwrap();
        let line = |words: &Vec<UnquotedWord>| {
            words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
        };
        script.commands.iter().map(line).collect()
    }

    #[test]
    fn every_simple_command_is_found() {
        for (text, expected) in [
            ("a 1 && b|c; d & e\nf || g", vec!["a 1", "b", "c", "d", "e", "f", "g"]),
            ("echo 'a && b' \"c; d\"", vec!["echo a && b c; d"]),
            ("echo $(rm -rf /) x", vec!["rm -rf /", "echo  x"]),
            ("echo \"$(a \"b c\" | d)\"", vec!["a b c", "d", "echo "]),
            ("echo `date`", vec!["date", "echo "]),
            ("(cd x; make)", vec!["cd x", "make"]),
            ("g\\it \"pu\"sh", vec!["git push"]),
            ("a \\\n b", vec!["a b"]),
            ("a # it's\nb # it's", vec!["a", "b"]),
            ("cat <(git log)", vec!["git log", "cat <"]),
        ] {
            assert_eq!(commands(text), expected, "{text}");
        }
    }

    #[test]
    fn what_does_not_close_is_not_understood() {
        for text in [
            "echo 'x",
            "echo \"x",
            "$(x",
            "x)",
            "`x",
            "x\\",
            "case x in a) b;; esac",
            "`a (b`",
            "a <<E\nit's\nE",
            "echo $'a\\'' ; b #'",
        ] {
            assert_eq!(script(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_known_only_when_it_runs_is_marked() {
        assert!(script("echo $(date)").unwrap().dynamic);
        assert!(script("echo \"$X\"").unwrap().dynamic);
        assert!(!script("echo '$X'").unwrap().dynamic);
    }
}
