// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::{Sources, WorkDirs};
use tenterhook_policy::{Problem, SourceLayer, UserProgramFile};

use super::programs_of;
use crate::commands::check::excerpt::problem_excerpt as show_problem;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, GOOD, count};

const EXAMPLES: &str = "\
Without a file, checks all active descriptions. Every example is tested.
Exit codes: 0 all are valid; 1 some are invalid; 2 a file does not exist.

Examples:
  tenterhook rules programs check
  tenterhook rules programs check acme.yaml
  tenterhook rules programs check acme.yaml --json";

/// Check program descriptions, and report what is invalid
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Files to check instead of the active ones
    files: Vec<PathBuf>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let sources = if args.files.is_empty() {
        let place = WorkDirs::at(std::env::current_dir().ok());
        Sources::collect(context.home()?, &context.env, &place)
    } else {
        let mut sources = Sources::default();
        for path in &args.files {
            if !path.exists() {
                return Err(CommandError::user(format!("file `{}` does not exist", path.display())));
            }
            sources.add_description(path, SourceLayer::User);
        }
        sources
    };
    let loaded = sources.load();
    // Problems in rules are reported by `check`.
    let is_description = |problem: &&Problem| {
        !args.files.is_empty() || sources.programs.iter().any(|text| text.name == problem.source)
    };
    let problems: Vec<_> = sources.problems.iter().chain(&loaded.problems).filter(is_description).collect();
    let programs = programs_of(&loaded.rules);
    let files = programs.user_files();
    let exit = if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if context.terminal.json {
        context.terminal.print_json(&json!({"files": files, "problems": problems}))?;
        return Ok(exit);
    }
    let texts = sources.programs.iter().map(|text| (text.name.as_str(), text.yaml.as_ref())).collect();
    let shown = problems.iter().map(|problem| show_problem(problem, &texts, "problem", BAD));
    let mut text: String = shown.collect();
    let sum = |of: &dyn Fn(&UserProgramFile) -> usize| files.iter().map(of).sum::<usize>();
    let programs = count(sum(&|file| file.programs.len()), "program");
    let examples = sum(&|file| file.programs.iter().map(|program| program.examples).sum());
    let examples = count(examples, "example");
    text += &match problems.len() {
        0 => format!("{GOOD}✓{GOOD:#} {programs} described, {examples} passed\n"),
        many => format!("{BAD}✗{BAD:#} {}; {programs} described\n", count(many, "problem")),
    };
    context.terminal.print(&text)?;
    Ok(exit)
}
