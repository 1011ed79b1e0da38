// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the files of the project that a call deletes or overwrites.

use std::path::{Component, Path, PathBuf};

use tenterhook_facts::{ExecLocation, FileEffect, FileOp, ShellCommand};
use tenterhook_undo::{FileTarget, TargetChange, TargetExtent};

use super::{PLAIN_LAUNCHERS, is_system_program};

/// Programs that do nothing to files but what their effects say.
const FILE_PROGRAMS: &[&str] = &[
    "rm", "rmdir", "unlink", "find", "truncate", "tee", "cp", "mv", "install", "dd", "sed", "echo", "printf",
    "cat", ">", ":", "true",
];

/// Programs that write to no file. If only these run besides the covered commands, nothing writes to a deleted file.
const PASSIVE_PROGRAMS: &[&str] = &[
    "cd", "ls", "pwd", "test", "[", "[[", "mkdir", "grep", "head", "tail", "wc", "sort", "sleep", "exit",
    "git",
];

/// Characters that make a component of a path a pattern.
const PATTERN_CHARACTERS: &[char] = &['*', '?', '[', '{'];

/// Whether an effect destroys content.
pub(super) fn is_destructive(effect: &FileEffect) -> bool {
    matches!(effect.does, FileOp::Write | FileOp::Append | FileOp::Delete | FileOp::Move)
}

/// Whether everything that a command does to files is among its effects.
pub(super) fn is_file_program(command: &ShellCommand) -> bool {
    FILE_PROGRAMS.contains(&command.program.as_str())
        && is_system_program(command)
        && command.on == ExecLocation::Here
        && command.via.iter().all(|via| PLAIN_LAUNCHERS.contains(&via.as_str()) || via == "find")
}

/// Whether a command writes to no file that another command of the call deletes.
pub(super) fn is_passive(command: &ShellCommand) -> bool {
    is_file_program(command) || PASSIVE_PROGRAMS.contains(&command.program.as_str())
}

/// Whether the effect is that of `sed -i`, which replaces a link by a new file instead of writing to its target.
pub(super) fn edits_in_place(command: &ShellCommand, effect: &FileEffect) -> bool {
    command.program == "sed"
        && effect.by == "sed"
        && command.span.is_some()
        && command.span == effect.span
        && !command.words.iter().any(|word| word.dynamic || word.text.contains("-follow"))
}

/// Returns the files that an effect destroys, if they are known and in the project.
pub(super) fn read_file_target(effect: &FileEffect, project: &Path) -> Option<FileTarget> {
    let path = effect.path.resolved.as_deref().map(Path::new)?;
    if effect.on != ExecLocation::Here || effect.path.dynamic || !path.starts_with(project) {
        return None;
    }
    let is_deep = effect.reaches_below();
    let change = match effect.does {
        FileOp::Delete | FileOp::Move => TargetChange::Delete,
        _ => TargetChange::Overwrite,
    };
    if !effect.path.pattern {
        let extent = if is_deep { TargetExtent::Tree } else { TargetExtent::Path };
        return Some(FileTarget { path: path.to_owned(), change, extent });
    }
    let (directory, is_last) = split_pattern(path)?;
    // Other programs may apply other rules to names that begin with a dot.
    if !FILE_PROGRAMS.contains(&effect.by.as_str()) || !directory.starts_with(project) {
        return None;
    }
    let extent = if is_deep || !is_last { TargetExtent::EntryTrees } else { TargetExtent::Entries };
    Some(FileTarget { path: directory, change, extent })
}

/// Returns the directory whose entries a pattern selects, and whether the pattern has no further components. Names that
/// begin with a dot are always saved, but patterns that may match `.` and `..` are not covered.
fn split_pattern(path: &Path) -> Option<(PathBuf, bool)> {
    let mut directory = PathBuf::new();
    let mut components = path.components();
    for component in components.by_ref() {
        let Component::Normal(name) = component else {
            directory.push(component);
            continue;
        };
        let name = name.to_str()?;
        if name.contains(PATTERN_CHARACTERS) {
            // In zsh, parentheses after a pattern can select other files and run commands.
            let is_simple =
                !name.contains("**") && !name.contains(['(', '{']) && !name.starts_with(['.', '[']);
            return is_simple.then_some((directory, components.as_path().as_os_str().is_empty()));
        }
        directory.push(name);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_split_at_its_first_component() {
        let split = |path: &str| {
            split_pattern(Path::new(path)).map(|(directory, last)| (directory.display().to_string(), last))
        };
        assert_eq!(split("/p/*"), Some(("/p".to_owned(), true)));
        assert_eq!(split("/p/a?c/x.rs"), Some(("/p".to_owned(), false)));
        assert_eq!(
            split("/p/src/[a-z].rs"),
            None,
            "it could match a name that begins with a dot in other shells"
        );
        assert_eq!(split("/p/.*"), None);
        assert_eq!(split("/p/***.orig"), None);
        assert_eq!(split("/p/plain"), None);
        assert_eq!(split("/p/*(:h)"), None, "a qualifier of zsh");
        assert_eq!(split("/p/a{b,c}*"), None);
    }
}
