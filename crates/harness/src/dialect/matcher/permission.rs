// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code's `if`: one permission rule that selects the calls for which a hook starts.
//!
//! The rule only avoids starting processes and is not a guard. The hook therefore runs whenever it is unclear whether
//! the rule matches.

use tenterhook_event::{Event, ToolCall, ToolClass, ToolCommand};

use super::glob::{self, NameGlob};
use super::shell::{self, UnquotedWord};
use super::{MatcherError, Mismatch};

/// One permission rule: `Bash(git *)`, `Edit(src/**)`, `mcp__x__*`.
#[derive(Debug, Clone)]
pub struct PermissionRule {
    text: String,
    tool: String,
    names: NameGlob,
    of: Option<String>,
}

/// Programs that run another program, which is one of their arguments.
const WRAPPERS: &[&str] = &[
    "sudo", "doas", "env", "nohup", "time", "timeout", "nice", "ionice", "stdbuf", "setsid", "command",
    "exec", "builtin", "xargs", "if", "then", "elif", "else", "while", "until", "do", "!", "{",
];
/// Programs whose arguments are, or may be, more commands.
const SHELLS: &[&str] = &["eval", "bash", "sh", "zsh", "dash", "ksh", "source", "."];

/// Parses exactly one permission rule.
pub fn permission_rule(text: &str) -> Result<PermissionRule, MatcherError> {
    let text = text.trim();
    let (tool, of) = match text.split_once('(') {
        Some((tool, rest)) => {
            let of = rest.strip_suffix(')').ok_or_else(|| MatcherError::UnclosedRule(text.to_owned()))?;
            (tool, Some(of.trim()))
        }
        None => (text, None),
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-*.:/".contains(letter);
    if tool.is_empty() || !tool.chars().all(is_name) || of.is_some_and(has_second_rule) {
        return Err(MatcherError::NotOneRule(text.to_owned()));
    }
    let of = of.filter(|of| !matches!(*of, "" | "*")).map(ToOwned::to_owned);
    Ok(PermissionRule { text: text.to_owned(), tool: tool.to_owned(), names: NameGlob::new(tool)?, of })
}

/// Returns whether one rule ends and another begins, as in `…)|Write(…`.
fn has_second_rule(of: &str) -> bool {
    of.match_indices(')').any(|(at, _)| {
        let after = of.get(at + 1..).unwrap_or_default().trim_start();
        let next = after.trim_start_matches(['|', '&', ',', ' ']);
        let name: usize =
            next.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').count();
        next.len() < after.len() && name > 0 && next.get(name..).is_some_and(|rest| rest.starts_with('('))
    })
}

impl PermissionRule {
    /// Checks whether the hook starts for this event; the error is the reason why it does not.
    pub fn admits(&self, event: &Event) -> Result<(), Mismatch> {
        let Some(tool) = event.tool.as_ref().filter(|_| event.event.concerns_tool()) else {
            return Err(Mismatch(format!("`if: {}` applies to tool calls only", self.text)));
        };
        let covered = self.covers(tool) && self.of.as_ref().is_none_or(|of| covers(of, tool, event));
        if covered { Ok(()) } else { Err(Mismatch(format!("the call does not match `{}`", self.text))) }
    }

    /// Returns whether the rule applies to a tool. A rule for one tool applies to every tool of the same class in all
    /// harnesses: `Edit` to every file change, `Bash` to every shell.
    fn covers(&self, tool: &ToolCall) -> bool {
        let class = match self.tool.as_str() {
            "Bash" => tool.class == ToolClass::Shell,
            "Edit" => matches!(tool.class, ToolClass::Edit | ToolClass::Write | ToolClass::Patch),
            "Write" => tool.class == ToolClass::Write,
            "Read" => matches!(tool.class, ToolClass::Read | ToolClass::Search),
            "WebFetch" => tool.class == ToolClass::Fetch,
            "Agent" | "Task" => tool.class == ToolClass::Agent,
            // The name of a server means all its tools.
            name => tool
                .name
                .strip_prefix(name)
                .is_some_and(|rest| name.starts_with("mcp__") && rest.starts_with("__")),
        };
        class || self.names.matches(&tool.name)
    }
}

fn covers(of: &str, tool: &ToolCall, event: &Event) -> bool {
    match tool.class {
        ToolClass::Shell => {
            let commands = tool.commands();
            commands.is_empty() || commands.iter().any(|command| command_covered(of, command))
        }
        ToolClass::Read | ToolClass::Search | ToolClass::Write | ToolClass::Edit | ToolClass::Patch => {
            let paths = glob::paths(tool);
            paths.is_empty() || paths.into_iter().any(|path| path_covered(of, path, event))
        }
        ToolClass::Fetch => match of.strip_prefix("domain:") {
            Some(domain) => tool.urls().into_iter().any(|url| host_covered(domain, url)),
            None => true,
        },
        ToolClass::Agent => {
            let kind = tool.args.get("subagent_type").and_then(|kind| kind.as_str());
            kind.is_none_or(|kind| matches_wildcard(of, kind))
        }
        ToolClass::Mcp | ToolClass::Todo | ToolClass::Other => true,
    }
}

fn command_covered(of: &str, command: &ToolCommand<'_>) -> bool {
    // `git:*` is the older spelling of `git *`.
    let of = of.strip_suffix(":*").map_or_else(|| of.to_owned(), |head| format!("{head} *"));
    let text = match command {
        ToolCommand::Text(text) => text,
        ToolCommand::Argv(words) => {
            let words: Vec<_> = words.iter().map(|word| UnquotedWord::from(*word)).collect();
            return words_covered(&of, &words);
        }
    };
    let Some(script) = shell::script(text) else { return true };
    // As in the client, `$(…)` makes it unclear whether a rule matches, unless the rule is only about the program
    // name.
    let about_arguments = of.split('*').next().unwrap_or_default().trim().contains(' ');
    if script.dynamic && about_arguments {
        return true;
    }
    script.commands.iter().any(|words| words_covered(&of, words))
}

fn words_covered(of: &str, words: &[UnquotedWord]) -> bool {
    let mut words = words;
    let mut wrapped = false;
    while let Some((first, rest)) = words.split_first() {
        let program = first.text.rsplit('/').next().unwrap_or_default();
        if is_assignment(&first.text) {
            words = rest;
        } else if first.dynamic || is_open(&first.text) || SHELLS.contains(&program) {
            return true;
        } else {
            let tail: Vec<_> = rest.iter().map(|word| word.text.as_str()).collect();
            let line = |program: &str| [&[program], tail.as_slice()].concat().join(" ");
            if line_covered(of, &line(&first.text)) || line_covered(of, &line(program)) {
                return true;
            }
            // After a wrapper, any later word may be the program: it is unknown how many arguments belong to the
            // wrapper.
            wrapped = wrapped || WRAPPERS.contains(&program);
            if !wrapped {
                return false;
            }
            words = rest;
        }
    }
    false
}

/// Returns whether the shell may expand the word to another program, or to nothing.
fn is_open(word: &str) -> bool {
    word.contains(['<', '>', '*', '?']) || (word.contains(['{', '[']) && !matches!(word, "{" | "[" | "[["))
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let letters = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !name.is_empty() && !name.starts_with(|first: char| first.is_ascii_digit()) && name.chars().all(letters)
}

/// Returns whether a rule matches a command line. `git *` also matches `git` without arguments.
fn line_covered(of: &str, line: &str) -> bool {
    matches_wildcard(of, line) || of.strip_suffix(" *").is_some_and(|head| matches_wildcard(head, line))
}

/// Matches a pattern in which `*` matches any text and all other characters are literal.
fn matches_wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// Matches a path as in a `.gitignore`. A pattern without a `/` matches at any depth. Other patterns start at the file
/// system's root (`//`), at a home directory (`~/`), or at the working or project directory.
fn path_covered(of: &str, path: &str, event: &Event) -> bool {
    if glob::check_glob(of).is_err() {
        return true;
    }
    let full = glob::absolute(path, event);
    let dirs = [event.cwd.as_deref(), event.project.as_deref()];
    let inside = || dirs.into_iter().filter_map(|dir| glob::relative_to(&full, dir)).chain([full.as_str()]);
    if let Some(of) = of.strip_prefix("//") {
        return glob::covers(&format!("/{of}"), &full);
    }
    if let Some(of) = of.strip_prefix("~/") {
        // The home directory is unknown here, so any directory may be the home directory.
        return glob::covers(&format!("**/{of}"), &full);
    }
    let of = of.strip_prefix("./").or(of.strip_prefix('/')).unwrap_or(of);
    if of.trim_end_matches('/').contains('/') {
        return inside().any(|form| glob::covers(of, form));
    }
    full.split('/').any(|part| glob::covers(of.trim_end_matches('/'), part))
}

fn host_covered(domain: &str, url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return true };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let (host, domain) = (host.to_ascii_lowercase(), domain.trim().to_ascii_lowercase());
    matches_wildcard(&domain, &host) || host.strip_suffix(&domain).is_some_and(|head| head.ends_with('.'))
}

#[cfg(test)]
mod tests;
