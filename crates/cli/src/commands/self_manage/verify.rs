// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::Home;

use super::release::{self, MANIFEST_FILE, PROGRAM, ReleaseManifest, ReleaseTarget, SIGNATURE_SUFFIX};
use super::{build_target, running_program, shared_files};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, DIM, GOOD};

const EXAMPLES: &str = "\
The signed manifest of the release is beside the program, in share/tenterhook. A program that was replaced
can print anything: to rule that out, verify the package with minisign, or use a second copy of Tenterhook.

Exit code 0: everything matches. 1: something differs, or cannot be verified.

Examples:
  tenterhook self verify
  tenterhook self verify --manifest release/manifest.json --key release/tenterhook.pub";

/// Check this program and the installed hook programs against the signed release
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Manifest to check against; its signature is expected in FILE.minisig
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Public minisign key, or a file with it [default: the compiled-in key]
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// One program compared with the manifest.
struct ProgramCheck {
    path: PathBuf,
    /// Why it is not the released program.
    problem: Option<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let program = running_program()?;
    let manifest_path = manifest_path(args.manifest.as_deref(), &program)?;
    let given = args.key.as_deref().map(read_key).transpose()?;
    let key = release::release_key(given.as_deref())?;
    let bytes = fs_err::read(&manifest_path)?;
    let signature = fs_err::read_to_string(with_suffix(&manifest_path, SIGNATURE_SUFFIX))?;
    let comment = release::verify_signature(MANIFEST_FILE, &bytes, &signature, &key)?;
    let manifest = ReleaseManifest::parse(&bytes)?;
    let target = manifest.target(&build_target())?;

    let mut checks = vec![check_program(PROGRAM, program, target)];
    if let Some(home) = context.unchecked_home() {
        checks.extend(hook_programs(home).map(|(name, path)| check_program(name, path, target)));
    }
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
        context.terminal.say(&text)?;
    }
    Ok(if matches { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The programs that `install` placed for hooks, as far as they exist.
fn hook_programs(home: &Home) -> impl Iterator<Item = (&'static str, PathBuf)> {
    let bin = home.bin();
    [PROGRAM, "tenterhook-hook", "tenterhook-status"]
        .into_iter()
        .map(move |name| (name, bin.join(name)))
        .filter(|(_, path)| fs_err::symlink_metadata(path).is_ok())
}

fn check_program(name: &str, path: PathBuf, target: &ReleaseTarget) -> ProgramCheck {
    let problem = match (fs_err::read(&path), target.programs.get(name)) {
        (Err(error), _) => Some(error.to_string()),
        (_, None) => Some("not in the manifest".to_owned()),
        (Ok(bytes), Some(expected)) => {
            let found = release::sha256_hex(&bytes);
            (found != *expected).then(|| format!("differs from the release (SHA-256 {found})"))
        }
    };
    ProgramCheck { path, problem }
}

fn manifest_path(given: Option<&Path>, program: &Path) -> Result<PathBuf, CommandError> {
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    let path = shared_files(program).map(|dir| dir.join(MANIFEST_FILE)).filter(|path| path.exists());
    path.ok_or_else(|| {
        CommandError::internal("no release manifest beside this program").hint(
            "name one with `--manifest`; packages have it in share/tenterhook, builds from source have none",
        )
    })
}

fn read_key(given: &str) -> Result<String, CommandError> {
    if Path::new(given).is_file() { Ok(fs_err::read_to_string(given)?) } else { Ok(given.to_owned()) }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
