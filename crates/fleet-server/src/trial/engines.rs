// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the engines and checks their versions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::FleetError;

/// Oldest supported version of NATS: older servers ignore settings of streams that the fleet needs.
pub const MIN_NATS_VERSION: (u32, u32) = (2, 11);
/// Oldest supported major version of PostgreSQL.
pub const MIN_POSTGRES_VERSION: u32 = 14;

/// Directory in which Debian installs PostgreSQL, one subdirectory for each version.
const DEBIAN_POSTGRES: &str = "/usr/lib/postgresql";
const NATS_HINT: &str = "get NATS from https://github.com/nats-io/nats-server/releases, or set TENTERHOOK_NATS_SERVER to its path";
const POSTGRES_HINT: &str = "get PostgreSQL with `apt-get install postgresql`, or set TENTERHOOK_POSTGRES_BIN to the directory with `initdb`";

/// Where the engines are searched. The program fills it from its environment.
#[derive(Debug, Clone, Default)]
pub struct EngineSearch {
    /// The program `nats-server`, from `TENTERHOOK_NATS_SERVER`.
    pub nats_server: Option<PathBuf>,
    /// The directory with `initdb` and `postgres`, from `TENTERHOOK_POSTGRES_BIN`.
    pub postgres_bin: Option<PathBuf>,
    /// The variable `PATH`.
    pub path: Option<OsString>,
}

impl EngineSearch {
    /// Finds `nats-server` in a supported version.
    pub fn find_nats_server(&self) -> Result<PathBuf, FleetError> {
        let missing = || FleetError::incompatible("`nats-server` is not installed").with_hint(NATS_HINT);
        let found = match &self.nats_server {
            Some(path) => Some(path.clone()),
            None => self.find_on_path("nats-server"),
        };
        let found = found.filter(|path| path.is_file()).ok_or_else(missing)?;
        let printed = print_version(&found)?;
        let version = printed.rsplit(' ').next().unwrap_or_default();
        check_nats_version(version)?;
        Ok(found)
    }

    /// Finds the directory with `initdb` and `postgres` in a supported version.
    pub fn find_postgres(&self) -> Result<PathBuf, FleetError> {
        let missing = || FleetError::incompatible("PostgreSQL is not installed").with_hint(POSTGRES_HINT);
        let is_complete = |dir: &PathBuf| dir.join("initdb").is_file() && dir.join("postgres").is_file();
        let on_path = || self.find_on_path("initdb").and_then(|path| real_directory(&path));
        let candidates = match &self.postgres_bin {
            Some(dir) => vec![dir.clone()],
            None => on_path().into_iter().chain(debian_directories()).collect(),
        };
        let found = candidates.into_iter().find(is_complete).ok_or_else(missing)?;
        let printed = print_version(&found.join("postgres"))?;
        let major = printed.split(' ').nth(2).and_then(|version| version.split(['.', 'd', 'b', 'r']).next());
        let major: Option<u32> = major.and_then(|major| major.parse().ok());
        match major {
            Some(major) if major >= MIN_POSTGRES_VERSION => Ok(found),
            _ => Err(old_version(&printed, &format!("PostgreSQL {MIN_POSTGRES_VERSION}"), POSTGRES_HINT)),
        }
    }

    fn find_on_path(&self, program: &str) -> Option<PathBuf> {
        let path = self.path.as_ref()?;
        std::env::split_paths(path).map(|dir| dir.join(program)).find(|file| file.is_file())
    }
}

/// Returns the directory of a program, with links resolved: `postgres` finds its files relative to itself.
fn real_directory(program: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(program).ok()?.parent().map(Path::to_owned)
}

/// Returns Debian's directories, newest version first.
fn debian_directories() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(DEBIAN_POSTGRES) else { return Vec::new() };
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort_by_key(|path| std::cmp::Reverse(number(path)));
    found.into_iter().map(|path| path.join("bin")).collect()
}

fn print_version(program: &Path) -> Result<String, FleetError> {
    let output = Command::new(program).arg("--version").env_clear().output();
    let output = output.map_err(|error| FleetError::file(program, &error))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn old_version(found: &str, needed: &str, hint: &str) -> FleetError {
    FleetError::incompatible(format!("found `{found}`, but {needed} or newer is required")).with_hint(hint)
}

/// Checks the version that a NATS server reports, such as `2.15.1` or `v2.15.1`.
pub fn check_nats_version(version: &str) -> Result<(), FleetError> {
    let (major, minor) = MIN_NATS_VERSION;
    let mut numbers = version.trim_start_matches('v').split('.').map(|part| part.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(first), Some(second)) if (first, second) >= MIN_NATS_VERSION => Ok(()),
        _ => Err(old_version(
            &format!("nats-server {version}"),
            &format!("nats-server {major}.{minor}"),
            NATS_HINT,
        )),
    }
}

/// Joins two errors, so that a user learns about both missing engines at once.
pub(super) fn join_missing(first: &FleetError, second: &FleetError) -> FleetError {
    let hints = [first.hint(), second.hint()].into_iter().flatten().collect::<Vec<_>>().join("\n");
    FleetError::incompatible(format!("{first}; {second}")).with_hint(hints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_nats_servers_are_refused_with_the_version_that_is_needed() {
        for version in ["2.11.0", "v2.15.1", "2.12.0-RC.1", "3.0.0"] {
            assert!(check_nats_version(version).is_ok(), "{version}");
        }
        for version in ["2.9.10", "v2.10.29", "1.4.0", "", "unknown"] {
            let error = check_nats_version(version).unwrap_err();
            assert!(error.to_string().contains("nats-server 2.11 or newer is required"), "{error}");
        }
    }

    #[test]
    fn both_missing_engines_are_named_with_one_line_each() {
        let search = EngineSearch {
            nats_server: Some("/nonexistent".into()),
            postgres_bin: Some("/nonexistent".into()),
            path: None,
        };
        let error =
            join_missing(&search.find_nats_server().unwrap_err(), &search.find_postgres().unwrap_err());
        assert_eq!(error.to_string(), "`nats-server` is not installed; PostgreSQL is not installed");
        assert_eq!(error.hint().unwrap().lines().count(), 2);
    }
}
