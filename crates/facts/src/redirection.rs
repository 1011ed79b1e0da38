// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decides whether commands may affect other files than their words name, because the shell is set up differently.

use tenterhook_shell_facts::{
    DECLARING_BUILTINS, ShellCommand, is_redirecting_variable, is_redirecting_word,
};

use super::facts::Facts;

/// Commands that store their input in variables.
const READING_PROGRAMS: &[&str] = &["read", "mapfile", "readarray", "getopts"];

/// Commands that run text which is not part of the call, in the same shell.
const SOURCING_PROGRAMS: &[&str] = &["source", ".", "direnv", "setopt", "emulate"];

/// Settings of the shell that change where `cd` goes.
const DIRECTORY_SETTINGS: &[&str] = &["cdable_vars", "autocd", "physical"];

/// Programs that must not be replaced by an alias.
const ALIASED_PROGRAMS: &[&str] = &["git", "rm", "cd", "pushd", "sudo", "command"];

/// Script of a Python environment, which agents run all the time.
const ACTIVATE_SCRIPT: &str = "activate";

impl Facts {
    /// Whether the call sets up its shell so that its other commands may affect other files than their words name.
    pub fn redirects_commands(&self) -> bool {
        self.redirects_later
            || self.commands.iter().any(|command| changes_shell(command) || sets_environment(command))
    }

    /// Whether the call may change what later calls in the same shell affect. `starts_new_shells` is whether the harness
    /// is known to start a new shell for each call; only the script of a Python environment is ignored then.
    pub fn redirects_later_calls(&self, starts_new_shells: bool) -> bool {
        let is_ignored = |command: &ShellCommand| {
            starts_new_shells && runs_activate_script(command) || !command.via.is_empty()
        };
        self.redirects_later
            || self.commands.iter().any(|command| changes_shell(command) && !is_ignored(command))
    }
}

fn changes_shell(command: &ShellCommand) -> bool {
    let program = command.program.as_str();
    let mut words = command.words.iter();
    match program {
        "eval" => words.any(|word| word.dynamic),
        "printf" => {
            let first = words.next().is_some_and(|word| word.text == "-v");
            first && words.next().is_some_and(is_redirecting_word)
        }
        "shopt" | "set" => words.any(|word| {
            word.dynamic || DIRECTORY_SETTINGS.contains(&word.text.as_str()) || is_physical_option(&word.text)
        }),
        "alias" => words.any(|word| {
            let name = word.text.split_once('=').map_or("", |(name, _)| name);
            ALIASED_PROGRAMS.contains(&name) || word.dynamic && name.is_empty()
        }),
        _ if SOURCING_PROGRAMS.contains(&program) => true,
        _ if DECLARING_BUILTINS.contains(&program) => words.any(is_redirecting_word),
        _ if READING_PROGRAMS.contains(&program) => {
            words.filter(|word| !word.text.starts_with('-')).any(is_redirecting_word)
        }
        _ => false,
    }
}

/// Whether a word is an option such as `-P` or `-eP` of `set`.
fn is_physical_option(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains('P')
}

/// Whether a variable is set for this command that directs it to other files.
fn sets_environment(command: &ShellCommand) -> bool {
    let mut names =
        command.env.iter().map(|pair| pair.split_once('=').map_or(pair.as_str(), |(name, _)| name));
    // `IFS= read -r line` changes nothing but the reading.
    names.any(|name| name != "IFS" && is_redirecting_variable(name))
}

fn runs_activate_script(command: &ShellCommand) -> bool {
    let script = command.words.first().map(|word| word.text.rsplit('/').next().unwrap_or_default());
    matches!(command.program.as_str(), "source" | ".") && script == Some(ACTIVATE_SCRIPT)
}
