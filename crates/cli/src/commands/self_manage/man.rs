// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;

use clap_mangen::Man;
use serde_json::json;
use tenterhook_home::write_atomic;

use crate::args::command_tree;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{GOOD, count};

const EXAMPLES: &str = "\
Writes one page for every command, such as tenterhook-rules-test.1.

Examples:
  tenterhook self man --output ~/.local/share/man/man1";

/// Write manual pages
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Directory to write the pages to
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let mut tree = command_tree();
    tree.build();
    let dir = std::path::absolute(&args.output)?;
    fs_err::create_dir_all(&dir)?;
    let mut written = Vec::new();
    write_pages(&tree, &dir, &mut written)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"dir": dir, "pages": written}))?;
    } else {
        let pages = count(written.len(), "page");
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} {pages} written to `{}`\n", dir.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of its visible subcommands.
fn write_pages(
    command: &clap::Command,
    dir: &std::path::Path,
    written: &mut Vec<String>,
) -> Result<(), CommandError> {
    let page = Man::new(command.clone()).manual("Tenterhook").date("");
    let mut text = Vec::new();
    page.render(&mut text)?;
    let name = page.get_filename();
    write_atomic(&dir.join(&name), &text, 0o644)?;
    written.push(name);
    let is_listed = |below: &&clap::Command| !below.is_hide_set() && below.get_name() != "help";
    for below in command.get_subcommands().filter(is_listed) {
        write_pages(below, dir, written)?;
    }
    Ok(())
}
