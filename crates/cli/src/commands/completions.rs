// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
Examples:
  tenterhook completions bash > ~/.local/share/bash-completion/completions/tenterhook
  tenterhook completions zsh  > ~/.zfunc/_tenterhook
  tenterhook completions fish > ~/.config/fish/completions/tenterhook.fish";

/// Print shell completions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Shell to generate completions for
    shell: Shell,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tenterhook", &mut script);
    context.terminal.print_raw(&String::from_utf8_lossy(&script), "")?;
    Ok(ExitCode::SUCCESS)
}
