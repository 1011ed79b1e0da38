// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `scan`: evaluates the rules for the commands in project files.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use tenterhook_event::Decision;
use tenterhook_scan::{ScanReport, report};

use crate::context::Context;
use crate::error::CommandError;
use crate::rule_args::RuleArgs;
use crate::terminal::{BOLD, DIM, GOOD, WARN, count, style_of, tame};

const EXAMPLES: &str = "\
Reads shell scripts, Makefiles, Dockerfiles, justfiles, Taskfiles, the scripts of package.json, the hooks of \
.pre-commit-config.yaml, and the steps of GitHub, GitLab, CircleCI and Azure pipelines, and evaluates their \
commands as if an agent ran them at the top of the scanned directory. Nothing is executed. Directories are \
walked without .git, node_modules and target; symbolic links are not followed and files over 1 MiB are skipped.

Values that are only known at run time (`$(VAR)` of make, `${{ … }}`) count as unknown.

Exit codes: 0 nothing found; 1 found a verdict of --fail-on; 2 wrong usage.

Examples:
  tenterhook scan .
  tenterhook scan deploy.sh .github/workflows --fail-on ask
  tenterhook scan . --sarif > tenterhook.sarif";

/// Evaluate commands in scripts, Makefiles, Dockerfiles and CI files
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Files and directories; files of unknown kind are read as shell scripts
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Verdict that sets the exit code to 1
    #[arg(long, value_name = "VERDICT", default_value = "deny")]
    fail_on: FailOn,
    /// Print SARIF 2.1.0, for code scanning services
    #[arg(long, conflicts_with = "json")]
    sarif: bool,
    #[command(flatten)]
    rules: RuleArgs,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FailOn {
    Ask,
    Deny,
    Never,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let book = args.rules.load(context.env.home.as_deref())?.require_usable()?.without_disk();
    let now = tenterhook_home::call_meta::now();
    let mut scan = ScanReport::default();
    for path in &args.paths {
        scan.add_path(&book, path, &std::env::current_dir()?, now)?;
    }
    if args.sarif {
        context.terminal.print_json(&report::to_sarif(&scan, &book))?;
    } else if context.terminal.json {
        context.terminal.print_json(&report::to_json(&scan))?;
    } else {
        context.terminal.print(&report_text(&scan))?;
    }
    let fails = match args.fail_on {
        FailOn::Ask => scan.strictest() >= Decision::Ask,
        FailOn::Deny => scan.strictest() >= Decision::Deny,
        FailOn::Never => false,
    };
    Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn report_text(scan: &ScanReport) -> String {
    let mut text = String::new();
    for found in &scan.found {
        let style = style_of(found.verdict);
        let _ = writeln!(
            text,
            "{}:{}: {style}{}{style:#} {BOLD}{}{BOLD:#} — {}",
            tame(&found.path),
            found.line,
            found.verdict,
            found.rule,
            tame(&found.reason)
        );
        let _ = writeln!(text, "    {DIM}{}{DIM:#}", tame(&found.text));
    }
    for problem in &scan.problems {
        let _ = writeln!(text, "{WARN}not read{WARN:#} {}", tame(&problem.to_string()));
    }
    let of = |verdict| scan.found.iter().filter(|found| found.verdict == verdict).count();
    let (denied, asked) = (of(Decision::Deny), of(Decision::Ask));
    let scanned = format!("{} in {}", count(scan.texts, "text"), count(scan.files, "file"));
    let _ = match (denied, asked) {
        (0, 0) => writeln!(text, "{GOOD}✓{GOOD:#} {scanned}: nothing found"),
        _ => writeln!(text, "{scanned}: {denied} denied, {asked} asked"),
    };
    text
}
