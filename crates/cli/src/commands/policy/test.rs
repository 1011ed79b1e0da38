// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::Place;
use tenterhook_rulebook::cases::{self, CaseResult};

use super::explain::book;
use crate::context::Context;
use crate::error::CommandError;
use crate::rule_args::RuleArgs;
use crate::terminal::{BAD, BOLD, DIM, GOOD, count, tame};

const EXAMPLES: &str = "\
A file holds cases:

  cases:
    - name: nobody deploys from here
      command: make deploy            # or `tool` and `args`, or a whole `event` in the normal form
      cwd: /home/user/project         # this is the default; the home is /home/user
      labels: [read-secret]           # what the session carries already
      expect: deny                    # deny, ask, allow or none
      rule: no-prod-deploy            # the rule that has to say so
      reason: ask the release team    # what the reason has to contain; `nudge` likewise

Without --policy the rules are those in force here. Exit codes: 0 all hold; 1 one does not; 2 a file
cannot be read.

Examples:
  tenterhook policy test rules.test.yaml
  tenterhook policy test rules.test.yaml --policy rules.yaml --no-baseline --junit > report.xml";

/// Try the rules on cases written in a file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Files of cases
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    rules: RuleArgs,
    /// Answer in JUnit's XML, which CI services read
    #[arg(long, conflicts_with = "json")]
    junit: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let book =
        book(context, &args.rules, &Place::at(std::env::current_dir().ok()))?.at_home(cases::CASE_HOME);
    let now = tenterhook_home::call_meta::now();
    let mut played = Vec::new();
    for path in &args.files {
        let text = fs_err::read_to_string(path).map_err(|error| CommandError::user(error.to_string()))?;
        played.extend(cases::run_file(&book, &path.display().to_string(), &text, now)?);
    }
    let failed = played.iter().filter(|case| !case.failures.is_empty()).count();
    if args.junit {
        context.terminal.exactly(&cases::to_junit(&played), "")?;
    } else if context.terminal.json {
        let cases: Vec<_> = played
            .iter()
            .map(|case| json!({"file": case.file, "line": case.line, "name": case.name, "failures": case.failures}))
            .collect();
        context.terminal.print_json(&json!({"cases": cases, "failed": failed}))?;
    } else {
        context.terminal.say(&text(&played, failed))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn text(played: &[CaseResult], failed: usize) -> String {
    let mut text = String::new();
    for case in played.iter().filter(|case| !case.failures.is_empty()) {
        let CaseResult { file, line, name, failures } = case;
        let _ =
            writeln!(text, "{BAD}✗{BAD:#} {BOLD}{}{BOLD:#} {DIM}{}:{line}{DIM:#}", tame(name), tame(file));
        for failure in failures {
            let _ = writeln!(text, "    {}", tame(failure));
        }
    }
    let all = count(played.len(), "case");
    let _ = match failed {
        0 => writeln!(text, "{GOOD}✓{GOOD:#} {all} as expected"),
        _ => writeln!(text, "{failed} of {all} not as expected"),
    };
    text
}
