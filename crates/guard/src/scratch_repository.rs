// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that git commands in a directory for temporary files work on the files of that directory.
//!
//! The settings of a repository may name another working tree, and then `git clean` deletes the files there.

use std::io::ErrorKind;
use std::path::Path;

use tenterhook_facts::{ExecLocation, Facts, FileEffect, FileOp, SCRATCH_ACT, ShellCommand};
use tenterhook_files::{FileClass, read_bytes};

/// Maximum size of the settings of a repository.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;
/// Parts of settings, options and subcommands that may give a repository another working tree or other settings.
const REDIRECTING_PARTS: &[&str] = &["worktree", "include", "separate-git-dir", "template"];
/// Programs that create a directory, or that keep a repository as it is.
const HARMLESS_PROGRAMS: &[&str] = &["git", "mkdir", "mktemp"];

/// Removes the act [`SCRATCH_ACT`] from commands whose repository may have its files elsewhere.
pub(crate) fn remove_unverified_acts(facts: &mut Facts) {
    let is_scratch = |command: &ShellCommand| command.acts.contains(&SCRATCH_ACT);
    let is_unverified = |command: &ShellCommand| {
        let is_verified = |directory: &str| !is_changed(facts, directory) && is_plain(Path::new(directory));
        is_scratch(command) && !command.directory.as_deref().is_some_and(is_verified)
    };
    let unverified: Vec<bool> = facts.commands.iter().map(is_unverified).collect();
    for (command, _) in facts.commands.iter_mut().zip(unverified).filter(|(_, is_unverified)| *is_unverified)
    {
        command.acts.retain(|act| *act != SCRATCH_ACT);
    }
}

/// Whether the repository of a directory has its files and settings in its own directory. A repository that does not
/// exist yet is created by the call.
fn is_plain(directory: &Path) -> bool {
    for top in directory.ancestors() {
        // The directory of a bare repository, or the inside of `.git`.
        if !is_absent(&top.join("HEAD")) {
            return false;
        }
        let git = top.join(".git");
        if !is_absent(&git) {
            let is_directory = git.symlink_metadata().is_ok_and(|found| found.is_dir());
            // `/tmp` or a directory above it contains files of others.
            let is_own = top.components().count() > 2;
            return is_own
                && is_directory
                && is_absent(&git.join("commondir"))
                && ["config", "config.worktree"].iter().all(|name| has_plain_settings(&git.join(name)));
        }
    }
    true
}

fn is_absent(path: &Path) -> bool {
    path.symlink_metadata()
        .is_err_and(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
}

fn has_plain_settings(path: &Path) -> bool {
    let Ok(bytes) = read_bytes(path, FileClass::Untrusted, MAX_CONFIG_BYTES) else { return false };
    !names_redirection(&String::from_utf8_lossy(&bytes.unwrap_or_default()))
}

fn names_redirection(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    REDIRECTING_PARTS.iter().any(|part| text.contains(part))
}

/// Whether the call itself may change the settings of the repository of this directory.
fn is_changed(facts: &Facts, directory: &str) -> bool {
    let here = facts.commands.iter().filter(|command| command.on == ExecLocation::Here);
    let mut git = here.filter(|command| command.program == "git");
    let mut effects = facts.effects.iter().filter(|effect| effect.on == ExecLocation::Here);
    git.any(changes_settings) || effects.any(|effect| replaces_repository(effect, directory))
}

/// Whether a git command may change settings, or create a repository whose files are elsewhere.
fn changes_settings(command: &ShellCommand) -> bool {
    let is_config = command.words.iter().any(|word| word.text == "config");
    command.words.iter().any(|word| {
        let is_setting = is_config || word.text.starts_with('-') || word.text.contains('=');
        is_config && word.dynamic || word.text == "worktree" || is_setting && names_redirection(&word.text)
    })
}

/// Whether an effect changes a repository other than by git, or puts other files in the place of the directory.
fn replaces_repository(effect: &FileEffect, directory: &str) -> bool {
    let is_write = matches!(effect.does, FileOp::Write | FileOp::Append);
    let Some(path) = effect.path.resolved.as_deref().filter(|_| is_write) else { return false };
    let is_repository = path.ends_with("/.git") || path.contains("/.git/");
    let contains = |path: &str| {
        directory.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !HARMLESS_PROGRAMS.contains(&effect.by.as_str())
        && (is_repository || contains(path.trim_end_matches('/')))
}
