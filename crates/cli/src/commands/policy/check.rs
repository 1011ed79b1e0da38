// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::{Place, Sources};
use tenterhook_policy::Layer;

use super::excerpt;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, GOOD, WARN, count};

const EXAMPLES: &str = "\
Without a file: everything that is in force here. Every example of every rule is tried.
Exit codes: 0 all can be used; 1 something cannot; 2 a file is not there.

Examples:
  tenterhook policy check
  tenterhook policy check my-rules.yaml";

/// Check rule files, and point at what cannot be used
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Rule files to check instead of those in force
    files: Vec<PathBuf>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let sources = if args.files.is_empty() {
        Sources::in_force(context.home()?, &context.env, &Place::at(std::env::current_dir().ok()))
    } else {
        Sources::files(&args.files, Layer::User)?
    };
    let loaded = sources.load_checked();
    let problems: Vec<_> = sources.problems.iter().chain(&loaded.problems).collect();
    let own = loaded.rules.warnings(tenterhook_home::call_meta::now());
    let warnings: Vec<_> = sources.warnings.iter().chain(&own).collect();
    let exit = if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if context.terminal.json {
        let rules: Vec<_> = loaded.rules.rules().map(tenterhook_policy::Rule::id).collect();
        let programs =
            loaded.rules.programs().map(tenterhook_policy::Programs::own_files).unwrap_or_default();
        context.terminal.print_json(
            &json!({"rules": rules, "programs": programs, "problems": problems, "warnings": warnings}),
        )?;
        return Ok(exit);
    }
    let texts = sources.texts.iter().chain(&sources.programs);
    let texts = texts.map(|text| (text.name.as_str(), text.yaml.as_ref())).collect();
    let shown = problems.iter().map(|problem| excerpt::show(problem, &texts, "problem", BAD));
    let mut text: String = shown.collect();
    text.extend(warnings.iter().map(|warning| excerpt::show(warning, &texts, "warning", WARN)));
    let mut rules = count(loaded.rules.rules().count(), "rule");
    if let Some(programs) = loaded.rules.programs() {
        let own: usize = programs.own_files().iter().map(|file| file.programs.len()).sum();
        rules += &format!(" and {} of your own", count(own, "program"));
    }
    text += &match problems.len() {
        0 => format!("{GOOD}✓{GOOD:#} {rules} can be used\n"),
        many => format!("{} cannot be used; {rules} can\n", count(many, "thing")),
    };
    context.terminal.say(&text)?;
    Ok(exit)
}
