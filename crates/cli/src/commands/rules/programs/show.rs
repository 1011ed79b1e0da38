// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_policy::CommandSummary;

use super::list::layer_of;
use super::{load_active, programs_of};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, WARN, tame};

const EXAMPLES: &str = "\
The output lists operands, sub-commands, and options that have a role or take a value. A role is the \
meaning of a word for the program (docs/spec/programs.md).
Exit codes: 0 the program is described; 2 it is not.

Examples:
  tenterhook rules programs show curl
  tenterhook rules programs show acme --json";

/// Show the description of a program
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Program name, without its directory
    program: String,
}

/// A program's description with its source.
struct SourcedDescription {
    from: String,
    line: Option<usize>,
    replaces: bool,
    summary: CommandSummary,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let (sources, rules) = load_active(context)?;
    let programs = programs_of(&rules);
    let own: Vec<_> = programs
        .user_descriptions(&args.program)
        .into_iter()
        .map(|(file, program, found)| SourcedDescription {
            from: format!("{} {}", layer_of(&sources, &file.source), file.source),
            line: Some(program.line),
            replaces: program.replaces,
            summary: found.summary(),
        })
        .collect();
    let builtin = tenterhook_policy::Programs::builtin();
    let builtin = builtin.find(&args.program).map(|found| SourcedDescription {
        from: "built in".to_owned(),
        line: None,
        replaces: false,
        summary: found.summary(),
    });
    let all: Vec<SourcedDescription> = builtin.into_iter().chain(own).collect();
    if all.is_empty() {
        return Err(CommandError::user(format!("program `{}` is not described", args.program))
            .hint("see docs/guide/programs.md to describe it; `tenterhook rules programs list` lists all"));
    }
    if context.terminal.json {
        let json = |shown: &SourcedDescription| {
            json!({
                "from": shown.from, "line": shown.line, "replaces": shown.replaces,
                "description": shown.summary,
            })
        };
        context.terminal.print_json(&all.iter().map(json).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_replaced = all.iter().any(|shown| shown.replaces);
    let mut text = String::new();
    for shown in &all {
        let line = shown.line.map(|line| format!(":{line}")).unwrap_or_default();
        let note = match (shown.line.is_some(), shown.replaces) {
            (false, _) if is_replaced => format!(" {WARN}replaced{WARN:#}"),
            (true, true) => format!(" {WARN}replaces the built-in description{WARN:#}"),
            _ => String::new(),
        };
        let name = &shown.summary.name;
        let _ = writeln!(text, "{BOLD}{}{BOLD:#}  {DIM}{}{line}{DIM:#}{note}", tame(name), tame(&shown.from));
        push_description(&shown.summary, 1, &mut text);
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn push_description(command: &CommandSummary, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for case in &command.operands {
        let with =
            if case.with.is_empty() { String::new() } else { format!(" with {}", case.with.join(" ")) };
        let _ = writeln!(text, "{indent}operands{}: {}", tame(&with), tame(&case.roles));
    }
    for option in &command.options {
        let names = option.names.replace(' ', ", ");
        let value = if option.takes_value { " VALUE" } else { "" };
        let spelled = format!("{names}{value}");
        let _ = writeln!(text, "{indent}{:<40} {DIM}{}{DIM:#}", tame(&spelled), tame(&option.role));
    }
    for inner in &command.commands {
        let _ = writeln!(text, "{indent}{BOLD}{}{BOLD:#}", tame(&inner.name));
        push_description(inner, depth + 1, text);
    }
}
