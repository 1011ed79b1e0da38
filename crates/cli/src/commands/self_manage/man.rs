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
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let program = format!("tenterhook {}", env!("CARGO_PKG_VERSION"));
    let page = Man::new(command.clone()).title(&name).source(program).manual("Tenterhook").date("");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut text)?;
    }
    text.extend_from_slice(notes_section(command).as_bytes());
    let name = format!("{name}.1");
    write_atomic(&dir.join(&name), &text, 0o644)?;
    written.push(name);
    let is_listed = |below: &&clap::Command| !below.is_hide_set() && below.get_name() != "help";
    for below in command.get_subcommands().filter(is_listed) {
        write_pages(below, dir, written)?;
    }
    Ok(())
}

/// Formats the text after the options. Indented lines, such as examples, keep their line breaks.
fn notes_section(command: &clap::Command) -> String {
    let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut text = String::new();
    let mut is_verbatim = false;
    for line in notes.lines() {
        let is_indented = line.starts_with(' ');
        if is_indented != is_verbatim && !line.is_empty() {
            text.push_str(if is_indented { ".nf\n" } else { ".fi\n" });
            is_verbatim = is_indented;
        }
        text.push_str(&escape_line(line));
        text.push('\n');
    }
    if is_verbatim {
        text.push_str(".fi\n");
    }
    if text.is_empty() { text } else { format!(".SH NOTES\n{text}") }
}

/// Escapes the characters that have a meaning in manual pages.
fn escape_line(line: &str) -> String {
    let escaped = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    // A line that starts with a dot would be a command.
    if escaped.starts_with('.') { format!("\\&{escaped}") } else { escaped }
}
