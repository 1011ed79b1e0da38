// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Programs under test. Their paths come from the environment, so that no machine's paths are written here.
//! If a program is missing, the test fails, because a skipped test would look like a passed one.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

/// Path of the `tenterhook` binary.
pub(crate) fn tenterhook() -> Result<PathBuf> {
    const NAME: &str = "TENTERHOOK_BIN";
    let path = variable(NAME).with_context(|| format!("{NAME} is not set: run `make e2e`"))?;
    checked(NAME, path.into())
}

/// The client with this name, from the list that `install-client.sh all` prints: a name, a tab and a path on each line.
pub(crate) fn client(id: &str) -> Result<PathBuf> {
    const NAME: &str = "TENTERHOOK_E2E_CLIENTS";
    let list = variable(NAME).with_context(|| format!("{NAME} is not set: run `make e2e`"))?;
    let list = list.into_string().ok().with_context(|| format!("{NAME} is not text"))?;
    let paths = list.lines().filter_map(|line| line.split_once('\t'));
    let path = paths.filter(|(name, _)| *name == id).map(|(_, path)| path.into()).next();
    checked(NAME, path.with_context(|| format!("{NAME} names no `{id}`: run `make e2e`"))?)
}

fn checked(name: &str, path: PathBuf) -> Result<PathBuf> {
    ensure!(path.is_absolute(), "{name} must be an absolute path, not `{}`", path.display());
    ensure!(path.is_file(), "{name} names no file: `{}`; run `make e2e`", path.display());
    Ok(path)
}

/// Search path for `sh`, `node` and the tools that agents call.
pub(crate) fn search_path() -> Result<OsString> {
    variable("PATH").context("PATH is not set")
}

#[expect(clippy::disallowed_methods, reason = "the one place where the e2e tests read the environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
