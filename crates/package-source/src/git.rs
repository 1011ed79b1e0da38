// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Fetches what others publish, with `git`, into a directory that is thrown away. Nothing of it is run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tenterhook_error::Failure;

/// A repository as it was at a commit.
pub struct FetchedRepository {
    dir: tempfile::TempDir,
    /// The commit that was fetched.
    pub commit: String,
}

/// Whether this names a repository by its address.
pub fn is_address(from: &str) -> bool {
    from.contains("://") || from.starts_with("git@")
}

/// Fetches a repository: its newest state, or a commit.
pub fn fetch(from: &str, commit: Option<&str>) -> Result<FetchedRepository, Failure> {
    let dir = tempfile::Builder::new().prefix("tenterhook-fetched-").tempdir()?;
    let fetched = FetchedRepository { dir, commit: String::new() };
    let failed = |said: &Output| {
        let why = String::from_utf8_lossy(&said.stderr).trim().to_owned();
        Failure::internal(format!("`{from}` could not be fetched: {why}"))
    };
    let depth: &[&str] = if commit.is_some() { &[] } else { &["--depth", "1"] };
    let said = git()
        .args(["clone", "--quiet", "--no-recurse-submodules"])
        .args(depth)
        .args(["--", from])
        .arg(fetched.root())
        .output()
        .map_err(|error| {
            Failure::internal(format!("`git` could not be run: {error}"))
                .hint("install git, or fetch it yourself and name the directory")
        })?;
    if !said.status.success() {
        return Err(failed(&said));
    }
    if let Some(commit) = commit {
        if commit.is_empty() || !commit.chars().all(|letter| letter.is_ascii_hexdigit()) {
            return Err(Failure::user(format!("`{commit}` is no commit")));
        }
        let said =
            git().arg("-C").arg(fetched.root()).args(["checkout", "--quiet", "--detach", commit]).output()?;
        if !said.status.success() {
            return Err(failed(&said));
        }
    }
    let head = git().arg("-C").arg(fetched.root()).args(["rev-parse", "HEAD"]).output()?;
    let commit = String::from_utf8_lossy(&head.stdout).trim().to_owned();
    Ok(FetchedRepository { commit, ..fetched })
}

/// No hooks or filters of the repository, no other transports, no links, nobody to ask.
fn git() -> Command {
    let mut git = Command::new("git");
    git.args([
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "protocol.ext.allow=never",
        "-c",
        "core.symlinks=false",
    ])
    .env("GIT_TERMINAL_PROMPT", "0")
    .stdin(Stdio::null());
    git
}

impl FetchedRepository {
    /// The directory with its files.
    pub fn root(&self) -> PathBuf {
        Path::join(self.dir.path(), "it")
    }
}
