// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where a call takes place: the agent's working directory, or one that the arguments name.
//!
//! A harness may honour such an argument or ignore it, and several may be given. A call is judged in every
//! directory that it may take place in, and the strictest verdict stands.

use serde::Serialize;
use tenterhook_event::ToolCall;
use tenterhook_paths::{Ground, resolve};

/// More directories than this count as unknown.
const MOST_DIRECTORIES: usize = 6;

/// A working directory that the arguments name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DirectoryFact {
    /// As written.
    pub text: String,
    /// From the root; missing if it cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
}

/// Where a call may take place.
#[derive(Debug, Default)]
pub(super) struct Directories {
    /// Each once; `None` is a directory that cannot be told.
    pub(super) possible: Vec<Option<String>>,
    /// Those that the arguments name.
    pub(super) named: Vec<DirectoryFact>,
}

impl Directories {
    pub(super) fn of(tool: &ToolCall, harness: &str, ground: &Ground, cwd: Option<&str>) -> Self {
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
            for resolved in readings(text, &ground.home, cwd) {
                found.add(text, resolved);
            }
        }
        if found.possible.len() > MOST_DIRECTORIES {
            found.possible = vec![None];
        }
        found
    }

    /// Whether one of them cannot be told.
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

/// The directories that a text may stand for. Whether a harness replaces `~` and `$HOME` is not known, so
/// both readings count.
fn readings(text: &str, home: &str, cwd: Option<&str>) -> Vec<Option<String>> {
    let after_home = ["~", "$HOME", "${HOME}"].iter().find_map(|start| {
        let rest = text.strip_prefix(start)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    });
    let unknown = |rest: &str| rest.contains(['$', '`', '%', '\\', '\0']) || rest.starts_with('~');
    // A `..` behind a name leads elsewhere if the name is a link.
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
        let ground = Ground::new(Some("/home/user"), Some("/home/user/project"));
        let call = ToolCall::new(tool, args);
        let found = Directories::of(&call, harness, &ground, Some("/home/user/project"));
        found.possible.into_iter().map(|place| place.unwrap_or_else(|| "?".to_owned())).collect()
    }

    #[test]
    fn a_directory_is_resolved_before_anything_is_judged_in_it() {
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
