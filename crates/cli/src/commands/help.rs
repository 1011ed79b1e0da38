// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `help`: shows the help of a command, or lists every command.

use std::fmt::Write as _;
use std::process::ExitCode;

use tenterhook_terminal_text::wrap;

use super::RENAMED_COMMANDS;
use crate::args::{HELP_WIDTH, command_tree};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM};

const EXAMPLES: &str = "\
Examples:
  tenterhook help rules test
  tenterhook help --all";

/// Show the help of a command, or list every command
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Command, such as `rules test`
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// List every command, also those that programs call and earlier names
    #[arg(long, conflicts_with = "command")]
    all: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let mut tree = command_tree();
    tree.build();
    if args.all {
        context.terminal.print(&all_commands_text(&tree))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = &mut tree;
    for word in &args.command {
        command = command.find_subcommand_mut(word).ok_or_else(|| {
            CommandError::user(format!("unknown command `{}`", args.command.join(" ")))
                .hint("`tenterhook help --all` lists every command")
        })?;
    }
    context.terminal.print(&command.render_help().ansi().to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// Lists the commands that do something, and then the earlier names.
fn all_commands_text(tree: &clap::Command) -> String {
    let mut rows = Vec::new();
    collect_commands(tree, "", &mut rows);
    let is_earlier = |name: &str| {
        RENAMED_COMMANDS.iter().any(|(earlier, _)| {
            name == *earlier || name.strip_prefix(earlier).is_some_and(|rest| rest.starts_with(' '))
        })
    };
    rows.retain(|(name, _)| !is_earlier(name));
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let mut text = format!("{BOLD}Commands:{BOLD:#}\n");
    for (name, about) in &rows {
        let mut lines = wrap(about, HELP_WIDTH.saturating_sub(width + 4)).into_iter();
        let _ = writeln!(text, "  {BOLD}{name:<width$}{BOLD:#}  {}", lines.next().unwrap_or_default());
        for line in lines {
            let _ = writeln!(text, "  {:<width$}  {line}", "");
        }
    }
    let _ = writeln!(text, "\n{BOLD}Earlier names:{BOLD:#}");
    for (earlier, replacement) in RENAMED_COMMANDS {
        let _ = writeln!(text, "  {earlier:<width$}  {DIM}now{DIM:#} {replacement}");
    }
    text
}

/// Collects the commands without subcommands, with their words and their purpose.
fn collect_commands(command: &clap::Command, words: &str, rows: &mut Vec<(String, String)>) {
    for below in command.get_subcommands().filter(|below| words.is_empty() || below.get_name() != "help") {
        let name = [words, below.get_name()].join(" ").trim_start().to_owned();
        if below.has_subcommands() {
            collect_commands(below, &name, rows);
        } else {
            rows.push((name, below.get_about().map(ToString::to_string).unwrap_or_default()));
        }
    }
}
