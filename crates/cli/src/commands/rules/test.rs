// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::WorkDirs;
use tenterhook_rulebook::cases::{self, CaseResult};

use crate::commands::explain::rules_only::open_rulebook;
use crate::context::Context;
use crate::error::CommandError;
use crate::rule_args::RuleArgs;
use crate::terminal::{BAD, BOLD, DIM, GOOD, count, tame};

const EXAMPLES: &str = "\
A file contains cases:

  cases:
    - name: no deployments from here
      command: make deploy          # or `tool` and `args`, or an `event`
      cwd: /home/user/project       # the default; ~ is /home/user
      labels: [read-secret]         # labels that the session already has
      expect: deny                  # deny, ask, allow or none
      rule: no-prod-deploy          # the rule that must decide
      reason: ask the release team  # part of the reason; also `nudge`

Without --policy the active rules are used. Exit codes: 0 all cases pass; 1 a case fails; 2 a file \
cannot be read.

Examples:
  tenterhook rules test rules.test.yaml
  tenterhook rules test rules.test.yaml --policy rules.yaml \\
    --no-baseline --junit > report.xml";

/// Test rules with cases from a file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct Args {
    /// Files with test cases
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    rules: RuleArgs,
    /// Print JUnit XML, for CI services
    #[arg(long, conflicts_with = "json")]
    junit: bool,
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let book = open_rulebook(context, &args.rules, &WorkDirs::at(std::env::current_dir().ok()))?
        .with_home(cases::CASE_HOME);
    let now = tenterhook_home::call_meta::now();
    let mut results = Vec::new();
    for path in &args.files {
        let text = fs_err::read_to_string(path).map_err(|error| CommandError::user(error.to_string()))?;
        results.extend(cases::run_file(&book, &path.display().to_string(), &text, now)?);
    }
    let failed = results.iter().filter(|case| !case.failures.is_empty()).count();
    if args.junit {
        context.terminal.print_raw(&cases::to_junit(&results), "")?;
    } else if context.terminal.json {
        let cases: Vec<_> = results
            .iter()
            .map(|case| json!({"file": case.file, "line": case.line, "name": case.name, "failures": case.failures}))
            .collect();
        context.terminal.print_json(&json!({"cases": cases, "failed": failed}))?;
    } else {
        context.terminal.print(&results_text(&results, failed))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn results_text(results: &[CaseResult], failed: usize) -> String {
    let mut text = String::new();
    for case in results.iter().filter(|case| !case.failures.is_empty()) {
        let CaseResult { file, line, name, failures } = case;
        let _ =
            writeln!(text, "{BAD}✗{BAD:#} {BOLD}{}{BOLD:#} {DIM}{}:{line}{DIM:#}", tame(name), tame(file));
        for failure in failures {
            let _ = writeln!(text, "    {}", tame(failure));
        }
    }
    let all = count(results.len(), "case");
    let _ = match failed {
        0 => writeln!(text, "{GOOD}✓{GOOD:#} {all} passed"),
        _ => writeln!(text, "{failed} of {all} failed"),
    };
    text
}
