// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_home::Sources;
use tenterhook_policy::UserProgramFile;

use super::{load_active, programs_of};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, Terminal, WARN, count, tame};
use tenterhook_terminal_text::wrap;

/// List the described programs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tenterhook rules programs list\n  tenterhook rules programs list --own --json"
)]
pub(super) struct Args {
    /// Only programs described in files of the user, the machine or the project
    #[arg(long)]
    own: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let (sources, rules) = load_active(context)?;
    let programs = programs_of(&rules);
    let builtin: Vec<_> = programs.names().filter(|_| !args.own).collect();
    if context.terminal.json {
        let own: Vec<_> = programs.user_files().iter().map(|file| file_json(file, &sources)).collect();
        let mut answer = json!({"own": own});
        if let Some(answer) = answer.as_object_mut().filter(|_| !args.own) {
            answer.insert("builtin".to_owned(), json!(builtin));
        }
        context.terminal.print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for file in programs.user_files() {
        let _ = writeln!(
            text,
            "{BOLD}{}{BOLD:#} {DIM}{}{DIM:#}",
            layer_of(&sources, &file.source),
            tame(&file.source)
        );
        for program in &file.programs {
            let replaces = if program.replaces {
                format!(" {WARN}replaces the built-in description{WARN:#}")
            } else {
                String::new()
            };
            let names = tame(&program.names.join(", "));
            let _ = writeln!(text, "  {names:<34} {DIM}:{}{DIM:#}{replaces}", program.line);
        }
    }
    if programs.user_files().is_empty() {
        let folder = context.home()?.program_descriptions();
        let _ = writeln!(text, "no programs of your own are described; add files to {}", folder.display());
    }
    if !args.own {
        let _ = writeln!(text, "{BOLD}built in{BOLD:#} {DIM}{}{DIM:#}", count(builtin.len(), "name"));
        for line in wrap(&builtin.join(" "), Terminal::width().min(100).saturating_sub(2)) {
            let _ = writeln!(text, "  {line}");
        }
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn file_json(file: &UserProgramFile, sources: &Sources) -> Value {
    json!({"source": file.source, "layer": layer_of(sources, &file.source), "programs": file.programs})
}

/// Returns the policy layer that a file belongs to.
pub(super) fn layer_of(sources: &Sources, source: &str) -> &'static str {
    let text = sources.programs.iter().find(|text| text.name == source);
    text.map_or("user", |text| text.layer.name())
}
