// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Determines the directories in which a call may run: the agent's working directory, or one that an argument names.
//!
//! A harness may honour or ignore such an argument, and there may be several. A call is evaluated in every directory in
//! which it may run, and the strictest verdict applies.

use serde::Serialize;
use tenterhook_event::ToolCall;
use tenterhook_paths::{PathRoots, resolve};

/// Maximum number of possible directories. If there are more, the directory counts as unknown.
const MAX_DIRECTORIES: usize = 6;

/// A working directory that an argument names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DirectoryFact {
    /// The directory as written.
    pub text: String,
    /// The absolute path; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
}

/// The directories in which a call may run.
#[derive(Debug, Default)]
pub(super) struct WorkingDirectories {
    /// Possible directories without duplicates; `None` is an unknown directory.
    pub(super) possible: Vec<Option<String>>,
    /// Working directories that arguments name.
    pub(super) named: Vec<DirectoryFact>,
}

impl WorkingDirectories {
    pub(super) fn from_call(tool: &ToolCall, harness: &str, ground: &PathRoots, cwd: Option<&str>) -> Self {
        let named = tool.working_directories();
        let own = cwd.map(str::to_owned);
        if named.is_empty() {
            return Self { possible: vec![own], named: Vec::new() };
        }
        let mut found = Self::default();
        if !tool.honours_working_directory(harness) {
            found.possible.push(own);
        }
        for text in named {
            let Some(text) = text else {
                found.add("", None);
                continue;
            };
            for resolved in possible_directories(text, &ground.home, cwd) {
                found.add(text, resolved);
            }
        }
        if found.possible.len() > MAX_DIRECTORIES {
            found.possible = vec![None];
        }
        found
    }

    /// Whether an argument names a directory that is not known.
    pub(super) fn is_unknown(&self) -> bool {
        !self.named.is_empty() && self.possible.contains(&None)
    }

    fn add(&mut self, text: &str, resolved: Option<String>) {
        if !self.possible.contains(&resolved) {
            self.possible.push(resolved.clone());
        }
        self.named.push(DirectoryFact { text: text.to_owned(), resolved });
    }
}

/// Returns the directories that a path prefix may refer to. Whether a harness expands `~` and `$HOME` is not known,
/// so both possibilities are returned.
fn possible_directories(text: &str, home: &str, cwd: Option<&str>) -> Vec<Option<String>> {
    let after_home = ["~", "$HOME", "${HOME}"].iter().find_map(|start| {
        let rest = text.strip_prefix(start)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    });
    let unknown = |rest: &str| rest.contains(['$', '`', '%', '\\', '\0']) || rest.starts_with('~');
    // If the name before a `..` is a link, the path leads to another directory.
    let turns = |text: &str| {
        let mut parts = text.split('/').filter(|part| !matches!(*part, "" | "."));
        parts.any(|part| part != "..") && parts.any(|part| part == "..")
    };
    let mut found = match after_home {
        Some(rest) if unknown(rest) => vec![None],
        Some(rest) => vec![resolve(None, &format!("{home}{rest}")), resolve(cwd, text)],
        None if unknown(text) => vec![None],
        None => vec![resolve(cwd, text)],
    };
    if turns(text) {
        found.push(None);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn possible(harness: &str, tool: &str, args: serde_json::Value) -> Vec<String> {
        let ground = PathRoots::new(Some("/home/user"), Some("/home/user/project"));
        let call = ToolCall::new(tool, args);
        let found = WorkingDirectories::from_call(&call, harness, &ground, Some("/home/user/project"));
        found.possible.into_iter().map(|place| place.unwrap_or_else(|| "?".to_owned())).collect()
    }

    #[test]
    fn a_directory_is_resolved_before_commands_in_it_are_evaluated() {
        let of = |text: &str| possible("opencode", "bash", json!({"command": "ls", "workdir": text}));
        assert_eq!(of("/tmp"), ["/tmp"]);
        assert_eq!(of(".."), ["/home/user"]);
        assert_eq!(of("sub/"), ["/home/user/project/sub"]);
        assert_eq!(of("~"), ["/home/user", "/home/user/project/~"]);
        assert_eq!(of("$HOME/x"), ["/home/user/x", "/home/user/project/$HOME/x"]);
        for text in ["$ELSEWHERE", "~root/x", "`pwd`", "$(pwd)", "${HOME:-/}", "%USERPROFILE%", "C:\\x"] {
            assert_eq!(of(text), ["?"], "{text}");
        }
        assert_eq!(of("link/../x"), ["/home/user/project/x", "?"]);
        assert_eq!(of(""), ["/home/user/project"]);
    }

    #[test]
    fn the_agents_own_directory_counts_where_the_argument_may_be_ignored() {
        let args = json!({"command": "ls", "cwd": "/tmp/x"});
        assert_eq!(possible("claude-code", "Bash", args.clone()), ["/home/user/project", "/tmp/x"]);
        assert_eq!(possible("opencode", "bash", args), ["/home/user/project", "/tmp/x"]);
        let both = json!({"command": "ls", "dir_path": "/a", "directory": "/b"});
        assert_eq!(possible("llxprt", "run_shell_command", both), ["/a", "/b"]);
        let many = json!({"command": "ls", "cwd": "/1", "dir": "/2", "path": "/3", "pwd": "/4", "chdir": "/5",
            "folder": "/6", "workdir": "/7"});
        assert_eq!(possible("claude-code", "Bash", many), ["?"]);
        assert_eq!(
            possible("claude-code", "Bash", json!({"command": "ls", "cwd": 7})),
            ["/home/user/project", "?"]
        );
    }
}
