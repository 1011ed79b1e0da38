// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The programs under test. They come from the environment, so that no
//! path of any machine is written down here, and a missing program fails the test: a skipped test of
//! a guard looks like a passed one.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

/// A program that a test runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// Our own binary.
    Tenterhook,
    /// Claude Code.
    ClaudeCode,
}

impl Program {
    /// The variable that holds its path.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Tenterhook => "TENTERHOOK_BIN",
            Self::ClaudeCode => "TENTERHOOK_E2E_CLAUDE",
        }
    }

    /// Its absolute path.
    pub fn path(self) -> Result<PathBuf> {
        let name = self.variable();
        let path = variable(name).with_context(|| format!("{name} is not set: run `make e2e`"))?;
        let path = PathBuf::from(path);
        ensure!(path.is_absolute(), "{name} must be an absolute path, not `{}`", path.display());
        ensure!(path.is_file(), "{name} names no file: `{}`; run `make e2e`", path.display());
        Ok(path)
    }
}

/// The search path for `sh` and the tools that agents call.
pub(crate) fn search_path() -> Result<OsString> {
    variable("PATH").context("PATH is not set")
}

#[expect(clippy::disallowed_methods, reason = "the one place where the e2e tests read the environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
