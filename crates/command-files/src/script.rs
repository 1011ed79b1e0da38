// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds shell scripts and reads their commands.

use super::{CommandText, FileName};

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash"];

pub(crate) fn matches_name(name: &FileName<'_>) -> bool {
    matches!(name.ending, "sh" | "bash" | "zsh" | "ksh")
}

pub(crate) fn read(text: &str) -> Vec<CommandText> {
    let first = text.lines().next().unwrap_or_default();
    if first.starts_with("#!") && !is_shell_shebang(first) {
        return Vec::new();
    }
    vec![CommandText::from_line(1, text.to_owned())]
}

/// Whether a shebang line names a shell.
pub fn is_shell_shebang(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("#!") else { return false };
    let mut words = rest.split_whitespace();
    let program = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut name = words.next().map(program).unwrap_or_default();
    if name == "env" {
        let after = words.find(|word| !word.starts_with('-') && !word.contains('='));
        name = after.map(program).unwrap_or_default();
    }
    SHELLS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_known_by_its_first_line() {
        for line in ["#!/bin/sh", "#! /usr/bin/env bash", "#!/usr/bin/env -S A=1 bash -eu", "#!/bin/zsh -f"] {
            assert!(is_shell_shebang(line), "{line}");
        }
        for line in ["", "# bash", "#!/usr/bin/python3", "#!/usr/bin/env node", "#!/usr/bin/fish", "#!"] {
            assert!(!is_shell_shebang(line), "{line}");
        }
    }
}
