// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Fetches repositories with `git` into a temporary directory. No code of a fetched repository is run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tenterhook_error::Failure;

/// The files of a repository at one commit, in a temporary directory.
pub struct FetchedRepository {
    dir: tempfile::TempDir,
    /// The commit that was fetched.
    pub commit: String,
}

/// Whether `from` is the address of a repository, not a local directory.
pub fn is_address(from: &str) -> bool {
    from.contains("://") || from.starts_with("git@")
}

/// Fetches a repository at the given commit, or at its newest commit.
pub fn fetch(from: &str, commit: Option<&str>) -> Result<FetchedRepository, Failure> {
    let dir = tempfile::Builder::new().prefix("tenterhook-fetched-").tempdir()?;
    let fetched = FetchedRepository { dir, commit: String::new() };
    let failed = |output: &Output| {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Failure::internal(format!("cannot fetch `{from}`: {why}"))
    };
    let depth: &[&str] = if commit.is_some() { &[] } else { &["--depth", "1"] };
    let output = git_command()
        .args(["clone", "--quiet", "--no-recurse-submodules"])
        .args(depth)
        .args(["--", from])
        .arg(fetched.root())
        .output()
        .map_err(|error| {
            Failure::internal(format!("cannot run `git`: {error}"))
                .hint("install git, or fetch the repository yourself and name its directory")
        })?;
    if !output.status.success() {
        return Err(failed(&output));
    }
    if let Some(commit) = commit {
        if commit.is_empty() || !commit.chars().all(|letter| letter.is_ascii_hexdigit()) {
            return Err(Failure::user(format!("invalid commit `{commit}`")));
        }
        let output = git_command()
            .arg("-C")
            .arg(fetched.root())
            .args(["checkout", "--quiet", "--detach", commit])
            .output()?;
        if !output.status.success() {
            return Err(failed(&output));
        }
    }
    let head = git_command().arg("-C").arg(fetched.root()).args(["rev-parse", "HEAD"]).output()?;
    let commit = String::from_utf8_lossy(&head.stdout).trim().to_owned();
    Ok(FetchedRepository { commit, ..fetched })
}

/// Creates a `git` command that runs no hooks, uses no external transports, creates no links and shows no prompts.
fn git_command() -> Command {
    let mut command = Command::new("git");
    command
        .args([
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "protocol.ext.allow=never",
            "-c",
            "core.symlinks=false",
        ])
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null());
    command
}

impl FetchedRepository {
    /// Returns the directory with the files.
    pub fn root(&self) -> PathBuf {
        Path::join(self.dir.path(), "it")
    }
}
