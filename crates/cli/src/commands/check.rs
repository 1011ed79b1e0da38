// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_engine::Limits;
use tenterhook_policy::{Layer, RuleSet, Source};

use crate::context::Context;
use crate::error::CommandError;
use crate::road::Configuration;
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN};

const EXAMPLES: &str = "\
Without a file: the compiled-in rules, your `policy.yaml` and the hooks in your `tenterhook.yaml`,
with every example of every rule. Exit code 1 if anything cannot be used.

Examples:
  tenterhook check
  tenterhook check my-rules.yaml --json";

/// Check rules and hooks, and say what cannot be used
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Rule files to check instead of the ones in force
    files: Vec<PathBuf>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let configuration = if args.files.is_empty() {
        Configuration::read(context.home()?, &context.env)
    } else {
        files(&args.files)?
    };
    let Configuration { rules, hooks, problems, warnings, .. } = &configuration;
    let exit = if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if context.terminal.json {
        let rules: Vec<_> = rules
            .rules()
            .map(|rule| json!({"id": rule.id(), "verdict": rule.verdict(), "layer": rule.layer()}))
            .collect();
        let hooks: Vec<_> = hooks.iter().map(|hook| hook.id.as_ref()).collect();
        context.terminal.print_json(
            &json!({"rules": rules, "hooks": hooks, "problems": problems, "warnings": warnings}),
        )?;
        return Ok(exit);
    }
    let mut text = String::new();
    for problem in problems {
        let _ = writeln!(text, "{BAD}problem{BAD:#} {problem}");
        if let Some(hint) = &problem.hint {
            let _ = writeln!(text, "        {DIM}{hint}{DIM:#}");
        }
    }
    for warning in warnings {
        let _ = writeln!(text, "{WARN}warning{WARN:#} {warning}");
    }
    let (rules, hooks) = (rules.rules().count(), hooks.iter().filter(|hook| hook.enabled).count());
    let _ = match problems.len() {
        0 => writeln!(
            text,
            "{GOOD}✓{GOOD:#} {BOLD}{rules}{BOLD:#} rules and {BOLD}{hooks}{BOLD:#} hooks in force"
        ),
        many => writeln!(text, "{many} cannot be used; {rules} rules and {hooks} hooks are in force"),
    };
    context.terminal.say(&text)?;
    Ok(exit)
}

fn files(files: &[PathBuf]) -> Result<Configuration, CommandError> {
    let read = files.iter().map(|path| {
        let text = fs_err::read_to_string(path).map_err(|error| CommandError::unusable(error.to_string()))?;
        Ok((path.display().to_string(), text))
    });
    let read = read.collect::<Result<Vec<_>, CommandError>>()?;
    let sources: Vec<_> = read.iter().map(|(name, text)| Source { name, text, layer: Layer::User }).collect();
    let loaded = RuleSet::load(&sources);
    Ok(Configuration {
        rules: loaded.rules,
        hooks: Vec::new(),
        limits: Limits::default(),
        problems: loaded.problems,
        warnings: Vec::new(),
    })
}
