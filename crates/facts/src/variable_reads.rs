// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Recognises files that are read only to set variables, as in `export $(grep -v '^#' .env | xargs)`.

use tenterhook_paths::FileOp;
use tenterhook_shell_facts::{DECLARING_BUILTINS, FileEffect, ShellCommand, ShellWord};

/// Programs that only pass on what they read.
const TEXT_FILTERS: &[&str] = &[
    "awk", "cat", "cut", "egrep", "grep", "gsed", "head", "paste", "sed", "sort", "tail", "tr", "uniq",
    "xargs",
];

/// Marks commands whose output only sets variables, and attributes the files that they read to the command that sets them.
pub(crate) fn attribute_variable_reads(commands: &mut [ShellCommand], effects: &mut [FileEffect]) {
    // `env $(cat .env)` without a program prints the variables.
    let names_program =
        |word: &ShellWord| !word.dynamic && !word.text.contains('=') && !word.text.starts_with('-');
    let env_runs_program =
        commands.iter().any(|command| command.program == "env" && command.words.iter().any(names_program));
    let is_setter = |program: &String| {
        DECLARING_BUILTINS.contains(&program.as_str()) || env_runs_program && program == "env"
    };
    let is_filter = |program: &String| TEXT_FILTERS.contains(&program.as_str());
    for command in commands.iter_mut().filter(|command| !command.feeds.is_empty()) {
        let mut setters = command.feeds.iter().filter(|program| is_setter(program));
        let Some(setter) = setters.next().filter(|_| is_filter(&command.program)) else { continue };
        if !command.feeds.iter().all(|program| is_filter(program) || is_setter(program)) {
            continue;
        }
        for effect in effects.iter_mut() {
            if effect.does == FileOp::Read && effect.by == command.program && effect.span == command.span {
                effect.by.clone_from(setter);
            }
        }
        command.acts.push("sets-variables");
    }
}
