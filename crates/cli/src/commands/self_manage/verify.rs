// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_self_update::release;
use tenterhook_self_update::verify::{ProgramCheck, check_programs, manifest_path, read_manifest};

use super::running_program;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, DIM, GOOD};

const EXAMPLES: &str = "\
The signed manifest of the release is installed with the program, in share/tenterhook. A program that was replaced \
can print anything: to rule that out, verify the package with minisign, or use a second copy of Tenterhook.

Exit code 0: everything matches. 1: something differs, or cannot be verified.

Examples:
  tenterhook self verify
  tenterhook self verify --manifest release/manifest.json \\
    --key release/tenterhook.pub";

/// Check this program and the installed hook programs against the signed release
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Manifest to check against; its signature is expected in FILE.minisig
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Public minisign key, or a file with it [default: the built-in key]
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let program = running_program()?;
    let manifest_path = manifest_path(args.manifest.as_deref(), &program)?;
    let given = args.key.as_deref().map(read_key).transpose()?;
    let key = release::release_key(given.as_deref())?;
    let verified = read_manifest(&manifest_path, &key)?;
    let (manifest, comment) = (&verified.manifest, &verified.comment);
    let checks = check_programs(manifest, program, context.unchecked_home().map(tenterhook_home::Home::bin))?;
    let matches = checks.iter().all(|check| check.problem.is_none());
    if context.terminal.json {
        let programs: Vec<_> = checks
            .iter()
            .map(|check| json!({"path": check.path, "matches": check.problem.is_none(), "problem": check.problem}))
            .collect();
        context.terminal.print_json(&json!({
            "matches": matches,
            "version": manifest.version,
            "manifest": manifest_path,
            "signature": comment,
            "programs": programs,
        }))?;
    } else {
        let mut text =
            format!("{GOOD}✓{GOOD:#} signature of {} {DIM}({comment}){DIM:#}\n", manifest_path.display());
        for ProgramCheck { path, problem } in &checks {
            text += &match problem {
                None => format!("{GOOD}✓{GOOD:#} {}\n", path.display()),
                Some(problem) => format!("{BAD}✗{BAD:#} {}: {problem}\n", path.display()),
            };
        }
        context.terminal.print(&text)?;
    }
    Ok(if matches { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read_key(given: &str) -> Result<String, CommandError> {
    if Path::new(given).is_file() { Ok(fs_err::read_to_string(given)?) } else { Ok(given.to_owned()) }
}
