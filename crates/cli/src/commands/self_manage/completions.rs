// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use clap_complete::Shell;

use crate::completion::registration_script;
use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
The script asks `tenterhook` for the words that fit: commands, options, and the names of rules, rule packs, \
templates and harnesses, sessions and record numbers.

Examples:
  tenterhook self completions bash \\
    > ~/.local/share/bash-completion/completions/tenterhook
  tenterhook self completions zsh > ~/.zfunc/_tenterhook
  tenterhook self completions fish \\
    > ~/.config/fish/completions/tenterhook.fish";

/// Print the script that completes words in a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Shell that reads the script
    shell: Shell,
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    context.terminal.print_raw(&registration_script(&args.shell.to_string())?, "")?;
    Ok(ExitCode::SUCCESS)
}
