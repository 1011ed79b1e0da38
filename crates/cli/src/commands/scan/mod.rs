// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `scan`: find the files that hold commands, read the commands out of them, judge each, report.

mod image;
mod kinds;
mod locate;
mod report;
mod statements;
mod walk;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tenterhook_event::{Decision, Timestamp};
use tenterhook_files::FileClass;
use tenterhook_policy::Problem;

use crate::context::Context;
use crate::error::CommandError;
use crate::ruling::{RuleArgs, Rulebook};

const EXAMPLES: &str = "\
Reads shell scripts, Makefiles, Dockerfiles, justfiles, Taskfiles, the scripts of package.json, the hooks of
.pre-commit-config.yaml, and the steps of GitHub, GitLab, CircleCI and Azure pipelines, and judges what they
would run as if an agent ran it at the top of the scanned directory. Nothing is executed. Directories are
walked without .git, node_modules and target; links are not followed and files over 1 MiB are left out.

What is only known when it runs (`$(VAR)` of make, `${{ … }}`) counts as unknown.

Exit codes: 0 nothing found; 1 something found that --fail-on names; 2 wrong usage.

Examples:
  tenterhook scan .
  tenterhook scan deploy.sh .github/workflows --fail-on ask
  tenterhook scan . --sarif > tenterhook.sarif";

/// Judge the commands in scripts, Makefiles, Dockerfiles and CI files
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Files and directories; a file of no known kind is read as a shell script
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What makes the exit code 1
    #[arg(long, value_name = "VERDICT", default_value = "deny")]
    fail_on: FailOn,
    /// Answer in SARIF 2.1.0, which code scanning services read
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

/// What was found.
#[derive(Debug, Default)]
struct Scan {
    /// How many files were read.
    files: usize,
    /// How many texts were judged.
    texts: usize,
    found: Vec<Found>,
    /// What could not be read.
    problems: Vec<Problem>,
}

/// One rule that matched in one place.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
struct Found {
    path: String,
    line: usize,
    verdict: Decision,
    rule: String,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    nudge: Option<String>,
    /// The line itself.
    text: String,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let book = Rulebook::asked(&args.rules, context.env.home.as_deref())?.whole()?.without_looking();
    let now = tenterhook_home::call_meta::now();
    let mut scan = Scan::default();
    for path in &args.paths {
        let place = place_of(path)?;
        for file in walk::files(path, &mut scan.problems)? {
            scan.file(&book, &file, &place, now);
        }
    }
    if args.sarif {
        context.terminal.print_json(&report::sarif(&scan, &book))?;
    } else if context.terminal.json {
        context.terminal.print_json(&report::json(&scan))?;
    } else {
        context.terminal.say(&report::text(&scan))?;
    }
    let strictest = scan.found.iter().map(|found| found.verdict).max().unwrap_or_default();
    let fails = match args.fail_on {
        FailOn::Ask => strictest >= Decision::Ask,
        FailOn::Deny => strictest >= Decision::Deny,
        FailOn::Never => false,
    };
    Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Where the commands of a path would run: a directory is its own project, a file belongs to the
/// one we are in.
fn place_of(path: &Path) -> Result<String, CommandError> {
    let whole = std::path::absolute(path)?;
    let here = std::env::current_dir()?;
    let place = if whole.is_dir() {
        whole.as_path()
    } else if whole.starts_with(&here) {
        here.as_path()
    } else {
        whole.parent().unwrap_or(Path::new("/"))
    };
    Ok(place.to_string_lossy().into_owned())
}

// === impl Scan ===

impl Scan {
    fn file(&mut self, book: &Rulebook, file: &walk::File, place: &str, now: Timestamp) {
        let name = file.path.display().to_string();
        let name = name.strip_prefix("./").unwrap_or(&name);
        let text = match tenterhook_files::read_bytes(&file.path, FileClass::Named, walk::LARGEST) {
            Ok(bytes) => String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned(),
            Err(error) => return self.problems.push(Problem::whole(name, error.to_string())),
        };
        self.files += 1;
        let pieces = match file.kind.read(&text) {
            Ok(pieces) => pieces,
            Err((spot, message)) => return self.problems.push(Problem::new(name, spot, message)),
        };
        let lines: Vec<&str> = text.lines().collect();
        for piece in &pieces {
            self.texts += 1;
            for (line, finding) in locate::findings(book, piece, place, now) {
                let shown = lines.get(line.saturating_sub(1)).map_or("", |line| line.trim());
                self.found.push(Found {
                    path: name.to_owned(),
                    line,
                    verdict: finding.verdict,
                    rule: finding.rule.unwrap_or_default(),
                    reason: finding.reason.unwrap_or_default(),
                    nudge: finding.nudge,
                    text: shown.to_owned(),
                });
            }
        }
    }
}
