// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_policy_import::{ImportedRules, import_claude_permissions, import_openagentlock};

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{DIM, GOOD, WARN, count, tame};

const EXAMPLES: &str = "\
Writes the rules to standard output, or to a new file. Everything that cannot be converted is reported on \
standard error, so that no guard is silently lost.

Exit codes: 0 imported; 1 with --strict: something was not converted; 2 the file cannot be read.

Examples:
  tenterhook rules import --from openagentlock policy.yaml --output rules.yaml
  tenterhook rules import --from claude-permissions ~/.claude/settings.json";

/// Convert another program's policy to rules
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct Args {
    /// Format of the policy
    #[arg(long)]
    from: ImportFormat,
    /// Policy file to convert
    file: PathBuf,
    /// File to write instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Exit with 1 if anything was not converted
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ImportFormat {
    /// Policy of OpenAgentLock
    Openagentlock,
    /// The permissions in Claude Code's settings.json
    ClaudePermissions,
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let text = fs_err::read_to_string(&args.file).map_err(|error| CommandError::user(error.to_string()))?;
    let name = args.file.display().to_string();
    let read = match args.from {
        ImportFormat::Openagentlock => import_openagentlock(&name, &text),
        ImportFormat::ClaudePermissions => import_claude_permissions(&name, &text),
    };
    let imported = read.map_err(|problem| {
        let error = CommandError::user(problem.to_string());
        match problem.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    })?;
    let ImportedRules { yaml, carried, left_out } = &imported;
    if let Some(path) = &args.output {
        write_new(path, yaml)?;
    }
    if context.terminal.json {
        context.terminal.print_json(&json!({"carried": carried, "left_out": left_out, "yaml": yaml}))?;
    } else {
        let mut report = String::new();
        for problem in left_out {
            let _ = writeln!(report, "{WARN}left out{WARN:#} {}", tame(&problem.to_string()));
            if let Some(hint) = &problem.hint {
                let _ = writeln!(report, "         {DIM}{}{DIM:#}", tame(hint));
            }
        }
        let _ = writeln!(
            report,
            "{GOOD}✓{GOOD:#} {} imported, {} left out",
            count(*carried, "rule"),
            left_out.len()
        );
        context.terminal.eprint(&report)?;
        if args.output.is_none() {
            context.terminal.print_raw(yaml, "")?;
        }
    }
    Ok(if args.strict && !left_out.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Writes a new file and creates its parent directories. An existing file is not overwritten.
fn write_new(path: &std::path::Path, text: &str) -> Result<(), CommandError> {
    use std::io::Write;
    if let Some(dir) = path.parent() {
        fs_err::create_dir_all(dir)?;
    }
    let file = fs_err::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = file.map_err(|error| {
        CommandError::conflict(error.to_string()).hint("choose a file that does not exist yet")
    })?;
    Ok(file.write_all(text.as_bytes())?)
}
