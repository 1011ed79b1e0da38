// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expands a hook's command line and sets the hook's environment.

use std::borrow::Cow;

use tenterhook_event::Event;

use super::HookDialect;
use super::switches::{EnvValue, Substitute};

impl HookDialect {
    /// Returns the shell program and its options. The command line is passed as the last argument.
    pub fn shell(&self) -> &'static [&'static str] {
        self.switches.shell
    }

    /// Returns the environment variables set for the hook.
    pub fn env(&self, event: &Event) -> Vec<(&'static str, String)> {
        let names = self.switches.env_names.iter();
        names.filter_map(|(name, value)| Some((*name, self.value(*value, event)?.to_owned()))).collect()
    }

    /// Returns the command line that the shell receives.
    ///
    /// A leading `~/` is replaced with `home`, so that it works even if `HOME` is not set. The shell expands `~` in
    /// other places.
    pub fn expand(&self, command: &str, event: &Event, home: Option<&str>) -> String {
        let command = match (command.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => Cow::Owned(format!("{}/{rest}", quote(home))),
            _ => Cow::Borrowed(command),
        };
        let mut quotes = Quotes::of(&command);
        let mut expanded = String::with_capacity(command.len());
        let mut rest = command.as_ref();
        // The line is expanded in a single pass: `$NAME` in a substituted value is not expanded.
        while let Some((before, after)) = rest.split_once('$') {
            quotes.pass(before);
            expanded.push_str(before);
            if let Some((value, after)) = self.substituted(after, event, quotes) {
                expanded.push_str(&value);
                rest = after;
            } else {
                expanded.push('$');
                rest = after;
            }
        }
        expanded.push_str(rest);
        expanded
    }

    /// Returns the value of the variable whose name starts `text`. Like the original clients, it does not check for a
    /// word boundary: `$GEMINI_CWDX` becomes the directory followed by `X`.
    ///
    /// A value that the shell could parse as code is not substituted. The shell then expands the variable itself, as
    /// plain text.
    fn substituted<'a>(&self, text: &'a str, event: &Event, quotes: Quotes) -> Option<(String, &'a str)> {
        let (value, rest) = self.switches.env_names.iter().find_map(|(name, value)| {
            let rest = text.strip_prefix(name)?;
            Some((self.value(*value, event)?, rest))
        })?;
        let value = match (self.switches.substitute_project_dir, quotes) {
            (Substitute::None, _) => return None,
            (Substitute::Escaped, Quotes::Outside) => quote(value),
            _ if value.chars().all(harmless) => value.to_owned(),
            _ => return None,
        };
        Some((value, rest))
    }

    fn value<'a>(&self, value: EnvValue, event: &'a Event) -> Option<&'a str> {
        match value {
            EnvValue::Project => event.project.as_deref().or(event.cwd.as_deref()),
            EnvValue::KnownProject => event.project.as_deref(),
            EnvValue::Cwd => event.cwd.as_deref(),
            EnvValue::Session => event.harness_session_id.as_deref(),
            EnvValue::Kind => Some(event.event.name()),
            EnvValue::EventName => Some((self.event_name)(event)),
        }
    }
}

/// Expands `~` and `~/…` in a word that is not passed to a shell, such as a word of `exec`.
pub fn expand_home<'a>(word: &'a str, home: Option<&str>) -> Cow<'a, str> {
    let Some(home) = home else { return Cow::Borrowed(word) };
    match word.strip_prefix('~') {
        Some("") => Cow::Owned(home.to_owned()),
        Some(rest) if rest.starts_with('/') => Cow::Owned(format!("{home}{rest}")),
        _ => Cow::Borrowed(word),
    }
}

/// Whether a position in a command line is inside quotes, as far as a simple scan can determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Outside,
    Single,
    Double,
    /// The command line contains escapes, here-documents or quotes inside substitutions, so a simple scan cannot
    /// determine it.
    Unclear,
}

impl Quotes {
    /// Returns the state at the start of the command.
    fn of(command: &str) -> Self {
        let has = |signs: &[&str]| signs.iter().any(|sign| command.contains(sign));
        let unclear = has(&["`", "\\", "<<"]) || (has(&["'", "\""]) && has(&["$(", "${", "$'", "#"]));
        if unclear { Self::Unclear } else { Self::Outside }
    }

    /// Advances the state past `text`.
    fn pass(&mut self, text: &str) {
        for letter in text.chars() {
            *self = match (*self, letter) {
                (Self::Outside, '\'') => Self::Single,
                (Self::Outside, '"') => Self::Double,
                (Self::Single, '\'') | (Self::Double, '"') => Self::Outside,
                (same, _) => same,
            };
        }
    }
}

/// Returns whether a shell treats a character in the command line in the same way as in a variable's value.
fn harmless(letter: char) -> bool {
    letter.is_alphanumeric() || "/_-.,:@%+= ".contains(letter)
}

/// Quotes one word as npm's `shell-quote` does, so that command lines are identical.
fn quote(text: &str) -> String {
    let has = |letters: &str| text.contains(|letter| letters.contains(letter));
    let spaced = text.contains(char::is_whitespace);
    if text.is_empty() {
        "''".to_owned()
    } else if (spaced || has("\"\\")) && !has("'") {
        format!("'{text}'")
    } else if spaced || has("\"'") {
        format!("\"{}\"", escape(text, "\"\\$`!"))
    } else {
        escape(text, "#!\"$&'()*,:;<=>?@[\\]^`{|}")
    }
}

fn escape(text: &str, special: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if special.contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::find;
    use tenterhook_event::{EventId, EventKind, Timestamp};

    fn event(cwd: &str) -> Event {
        let (id, ts) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
        let mut event = Event::new(id, ts, "x", EventKind::PreTool, "x");
        event.cwd = Some(cwd.to_owned());
        event
    }

    fn expanded(dialect: &str, command: &str, cwd: &str) -> String {
        find(dialect).unwrap().expand(command, &event(cwd), Some("/home/a b"))
    }

    #[test]
    fn the_row_says_which_names_are_replaced_and_how() {
        let command = "$LLXPRT_PROJECT_DIR $GEMINI_PROJECT_DIRX ${CLAUDE_PROJECT_DIR}";
        assert_eq!(expanded("llxprt", command, "/w p"), "/w p /w pX ${CLAUDE_PROJECT_DIR}");
        assert_eq!(
            expanded("llxprt-2026-08", command, "/w p"),
            "'/w p' $GEMINI_PROJECT_DIRX ${CLAUDE_PROJECT_DIR}"
        );
        assert_eq!(expanded("gemini", command, "/w p"), "$LLXPRT_PROJECT_DIR '/w p'X ${CLAUDE_PROJECT_DIR}");
        assert_eq!(expanded("claude", "$CLAUDE_PROJECT_DIR/x", "/w"), "$CLAUDE_PROJECT_DIR/x");
    }

    #[test]
    fn a_directory_s_name_never_becomes_a_command() {
        let command = "ls $GEMINI_PROJECT_DIR";
        assert_eq!(expanded("gemini", command, "/w$(id)"), "ls /w\\$\\(id\\)");
        assert_eq!(expanded("gemini", command, "/it's `id`"), "ls \"/it's \\`id\\`\"");
        assert_eq!(expanded("gemini", command, "/$GEMINI_CWD"), "ls /\\$GEMINI_CWD", "one pass");
        assert_eq!(expanded("llxprt", command, "/w; id"), command, "left to the shell's own variable");
        for command in [
            "ls '$GEMINI_CWD'",
            "ls \"$GEMINI_CWD\"",
            "ls \\$GEMINI_CWD",
            "ls \"$(echo \"$GEMINI_CWD\")\"",
            "cat <<E\n$GEMINI_CWD\nE",
        ] {
            assert_eq!(expanded("gemini", command, "/w $(id); id"), command);
        }
        let plain = expanded("gemini", "ls \"$GEMINI_CWD/x\" $GEMINI_CWD", "/w p");
        assert_eq!(plain, "ls \"/w p/x\" '/w p'");
    }

    #[test]
    fn home_is_expanded_where_no_shell_would_do_it() {
        assert_eq!(expanded("gemini", "~/h.sh ~/x", "/w"), "'/home/a b'/h.sh ~/x");
        assert_eq!(find("gemini").unwrap().expand("~/h.sh", &event("/w"), None), "~/h.sh");
        assert_eq!(expand_home("~/x", Some("/h")), "/h/x");
        assert_eq!(expand_home("~", Some("/h")), "/h");
        assert_eq!(expand_home("~x", Some("/h")), "~x");
        assert_eq!(expand_home("a~/x", Some("/h")), "a~/x");
    }
}
