// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use minisign_verify::PublicKey;
use serde_json::{Value, json};
use tenterhook_guard::Book;
use tenterhook_home::{make_public, write_whole};

use super::install_method::InstallMethod;
use super::release::{self, CHECKSUMS_FILE, MANIFEST_FILE, PROGRAM, ReleaseManifest, SIGNATURE_SUFFIX};
use super::release_source::ReleaseSource;
use super::{build_target, running_program};
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::setup::refuse_guarded_agent;
use crate::terminal::{BOLD, DIM, GOOD, WARN};
use tenterhook_setup::versions::{REFRESH_COMMAND, ReleaseVersion};

const EXAMPLES: &str = "\
Only copies that were unpacked from a release archive, by hand or by install.sh, update themselves. npm, pip,
Homebrew, deb and Docker installs are refused, and the command that upgrades them is printed. The signature is
verified with the compiled-in key before anything is unpacked, and an older release is refused. Afterwards the new
program runs `self refresh`: hooks and daemon use the new version.

Examples:
  tenterhook self update --check
  tenterhook self update --from ./tenterhook-0.2.0
  TENTERHOOK_RELEASES=https://example.com/releases tenterhook self update";

/// Replace this program by the newest signed release
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory or https address with the files of a release
    #[arg(long, value_name = "DIR|URL")]
    from: Option<String>,
    /// Only print which version is available
    #[arg(long)]
    check: bool,
}

/// A release whose signature was verified.
struct VerifiedRelease {
    manifest: ReleaseManifest,
    checksums: String,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let program = running_program()?;
    let method = InstallMethod::detect(&program, context.unchecked_home());
    if let Some(command) = method.upgrade_command() {
        let message = format!("this copy was installed by {} and is upgraded there", method.name());
        return Err(CommandError::internal(message).hint(format!("run `{command}`")));
    }
    if let Some(home) = context.unchecked_home() {
        refuse_guarded_agent(home, "update Tenterhook")?;
    }
    // Without a key nothing can be verified: fail before anything is downloaded.
    let key = release::release_key(None)?;
    let configured = context.env.all.get("TENTERHOOK_RELEASES").map(String::as_str);
    let source = ReleaseSource::choose(args.from.as_deref(), configured)?;
    let found = read_release(&source, &key)?;

    let (current, offered) = (env!("CARGO_PKG_VERSION"), found.manifest.version.clone());
    let order = ReleaseVersion::parse(&offered)?.cmp(&ReleaseVersion::parse(current)?);
    if order.is_lt() {
        return Err(CommandError::internal(format!("the offered release {offered} is older than {current}"))
            .hint("to go back, uninstall this version and install the older one"));
    }
    if args.check || order.is_eq() {
        if context.terminal.json {
            context
                .terminal
                .print_json(&json!({"current": current, "available": offered, "updated": false}))?;
        } else if order.is_eq() {
            context.terminal.say(&format!("{GOOD}✓{GOOD:#} {current} is the newest release\n"))?;
        } else {
            context.terminal.say(&format!("{BOLD}{offered}{BOLD:#} is available; this is {current}\n"))?;
        }
        return Ok(ExitCode::SUCCESS);
    }

    let unpacked = unpack(&source, &found)?;
    if let Ok(home) = context.home()
        && home.state.exists()
    {
        let detail = json!({"from": current, "to": offered, "program": program});
        Book::of(home).change("self update", detail)?;
    }
    replace(&unpacked.root, &program)?;
    let refreshed = refresh(context, &program);
    report(context, &program, (current, &offered), refreshed.as_ref())?;
    Ok(if refreshed.is_some_and(|refreshed| !refreshed.succeeded) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// What `self refresh` of the new program did.
struct RefreshResult {
    succeeded: bool,
    /// Its answer in JSON, if that is wanted.
    answer: Value,
}

/// Lets the new program bring hooks and daemon to its version. `None`: there is nothing to refresh.
fn refresh(context: &Context, program: &Path) -> Option<RefreshResult> {
    let home = context.unchecked_home()?;
    if !home.has_hook_programs() && !ask::is_up(home) {
        return None;
    }
    let mut command = Command::new(program);
    if home.public.is_some() {
        command.arg("--system");
    } else if let Some(said) = &context.said_home {
        command.arg("--home").arg(said);
    }
    command.args(["self", "refresh"]);
    if !context.terminal.json {
        let succeeded = command.status().is_ok_and(|status| status.success());
        return Some(RefreshResult { succeeded, answer: Value::Null });
    }
    let ran = command.arg("--json").stderr(Stdio::inherit()).output().ok();
    let succeeded = ran.as_ref().is_some_and(|ran| ran.status.success());
    let answer = ran.and_then(|ran| serde_json::from_slice(&ran.stdout).ok()).unwrap_or_default();
    Some(RefreshResult { succeeded, answer })
}

/// Reads checksums and manifest; nothing is used before its signature was verified.
fn read_release(source: &ReleaseSource, key: &PublicKey) -> Result<VerifiedRelease, CommandError> {
    let checksums = source.read(CHECKSUMS_FILE)?;
    let signature = source.read_text(&format!("{CHECKSUMS_FILE}{SIGNATURE_SUFFIX}"))?;
    release::verify_signature(CHECKSUMS_FILE, &checksums, &signature, key)?;
    let checksums = String::from_utf8(checksums)
        .map_err(|_| CommandError::internal(format!("{CHECKSUMS_FILE} is not a text file")))?;
    let manifest = read_listed(source, &checksums, MANIFEST_FILE)?;
    Ok(VerifiedRelease { manifest: ReleaseManifest::parse(&manifest)?, checksums })
}

/// Reads a file and compares it with the signed list.
fn read_listed(source: &ReleaseSource, checksums: &str, name: &str) -> Result<Vec<u8>, CommandError> {
    let expected = release::listed_hash(checksums, name)
        .ok_or_else(|| CommandError::internal(format!("{name} is not part of the signed release")))?;
    let bytes = source.read(name)?;
    if release::sha256_hex(&bytes) != expected {
        return Err(CommandError::internal(format!("{name} differs from the signed release"))
            .hint("the download is incomplete or was changed; nothing was installed"));
    }
    Ok(bytes)
}

/// An archive in a temporary directory that ends with this value.
struct UnpackedArchive {
    root: PathBuf,
    _dir: tempfile::TempDir,
}

fn unpack(source: &ReleaseSource, found: &VerifiedRelease) -> Result<UnpackedArchive, CommandError> {
    let target = found.manifest.target(&build_target())?;
    let name = target.archive_name()?;
    let bytes = read_listed(source, &found.checksums, name)?;
    let dir = tempfile::Builder::new().prefix("tenterhook-update-").tempdir()?;
    let archive = dir.path().join("archive.tar.gz");
    fs_err::write(&archive, bytes)?;
    let root = dir.path().join("root");
    fs_err::create_dir(&root)?;
    let unpacked = Command::new("tar")
        .args(["-x", "-z", "-f"])
        .arg(&archive)
        .arg("-C")
        .arg(&root)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| CommandError::internal(format!("`tar` could not be run: {error}")))?;
    if !unpacked.status.success() {
        let why = String::from_utf8_lossy(&unpacked.stderr).trim().to_owned();
        return Err(CommandError::internal(format!("{name} could not be unpacked: {why}")));
    }
    let root = root.join(name.trim_end_matches(".tar.gz"));
    let program = root.join("bin").join(PROGRAM);
    let expected = target.programs.get(PROGRAM);
    if expected != Some(&release::sha256_hex(&fs_err::read(&program)?)) {
        return Err(CommandError::internal(format!("the program in {name} differs from the manifest")));
    }
    let started = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
    if !started.as_ref().is_ok_and(|output| output.status.success()) {
        return Err(CommandError::internal(
            "the new program does not start on this machine; nothing was changed",
        ));
    }
    Ok(UnpackedArchive { root, _dir: dir })
}

/// Replaces the program by renaming, and the files that belong to it where there is a prefix.
fn replace(unpacked: &Path, program: &Path) -> Result<(), CommandError> {
    write_whole(program, &fs_err::read(unpacked.join("bin").join(PROGRAM))?, 0o755)?;
    let prefix = program.parent().filter(|dir| dir.ends_with("bin")).and_then(Path::parent);
    match prefix.map(|prefix| prefix.join("share")).filter(|share| share.join(PROGRAM).is_dir()) {
        Some(share) => copy_tree(&unpacked.join("share"), &share),
        None => Ok(()),
    }
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), CommandError> {
    make_public(to)?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_tree(&path, &target)?;
        } else {
            write_whole(&target, &fs_err::read(&path)?, 0o644)?;
        }
    }
    Ok(())
}

fn report(
    context: &Context,
    program: &Path,
    (current, offered): (&str, &str),
    refreshed: Option<&RefreshResult>,
) -> Result<(), CommandError> {
    if context.terminal.json {
        return context.terminal.print_json(&json!({
            "current": current,
            "available": offered,
            "updated": true,
            "program": program,
            "refresh": refreshed.map(|refreshed| &refreshed.answer),
        }));
    }
    let mut text = format!(
        "{GOOD}✓{GOOD:#} {} is now {BOLD}{offered}{BOLD:#} {DIM}(was {current}){DIM:#}\n",
        program.display()
    );
    if refreshed.is_some_and(|refreshed| !refreshed.succeeded) {
        text +=
            &format!("{WARN}note{WARN:#}: hooks and daemon still run {current}: run `{REFRESH_COMMAND}`\n");
    }
    context.terminal.say(&text)
}
