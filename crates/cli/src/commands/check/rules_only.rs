// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::{Sources, WorkDirs};
use tenterhook_policy::SourceLayer;

use super::excerpt;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, GOOD, WARN, count};

const EXAMPLES: &str = "\
Without a file, checks all active rules. Every example of every rule is evaluated.
Exit codes: 0 all rules are valid; 1 some are invalid; 2 a file does not exist.

Examples:
  tenterhook check
  tenterhook check my-rules.yaml";

/// Check rule files, and report what is invalid
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct Args {
    /// Rule files to check instead of the active ones
    files: Vec<PathBuf>,
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let sources = if args.files.is_empty() {
        Sources::collect(context.home()?, &context.env, &WorkDirs::at(std::env::current_dir().ok()))
    } else {
        Sources::from_files(&args.files, SourceLayer::User)?
    };
    let loaded = sources.load_checked();
    let problems: Vec<_> = sources.problems.iter().chain(&loaded.problems).collect();
    let own = loaded.rules.warnings(tenterhook_home::call_meta::now());
    let warnings: Vec<_> = sources.warnings.iter().chain(&own).collect();
    let exit = if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if context.terminal.json {
        let rules: Vec<_> = loaded.rules.rules().map(tenterhook_policy::Rule::id).collect();
        let programs =
            loaded.rules.programs().map(tenterhook_policy::Programs::user_files).unwrap_or_default();
        context.terminal.print_json(
            &json!({"rules": rules, "programs": programs, "problems": problems, "warnings": warnings}),
        )?;
        return Ok(exit);
    }
    let texts = sources.texts.iter().chain(&sources.programs);
    let texts = texts.map(|text| (text.name.as_str(), text.yaml.as_ref())).collect();
    let shown = problems.iter().map(|problem| excerpt::problem_excerpt(problem, &texts, "problem", BAD));
    let mut text: String = shown.collect();
    text.extend(warnings.iter().map(|warning| excerpt::problem_excerpt(warning, &texts, "warning", WARN)));
    let mut rules = count(loaded.rules.rules().count(), "rule");
    if let Some(programs) = loaded.rules.programs() {
        let own: usize = programs.user_files().iter().map(|file| file.programs.len()).sum();
        rules += &format!(" and {} of your own", count(own, "program"));
    }
    text += &match problems.len() {
        0 => format!("{GOOD}✓{GOOD:#} {rules} valid\n"),
        many => format!("{}; {rules} valid\n", count(many, "problem")),
    };
    context.terminal.print(&text)?;
    Ok(exit)
}
