// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The programs of a cluster, and what is said if one is missing.

use std::path::{Path, PathBuf};

use tenterhook_fleet_server::EngineSearch;

use crate::error::ClusterError;

/// Directories of tools of the system.
const TOOL_DIRS: [&str; 4] = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];

/// The programs of a cluster.
#[derive(Debug, Clone)]
pub struct ClusterPrograms {
    /// `tenterhook-fleet`.
    pub fleet: PathBuf,
    /// `tenterhook`; machines need it.
    pub tenterhook: Option<PathBuf>,
    /// `nats-server`.
    pub nats_server: PathBuf,
    /// Directory with `initdb` and `postgres`.
    pub postgres_bin: PathBuf,
}

impl ClusterPrograms {
    /// Finds the programs: those of this workspace in `programs`, the engines as a trial of a fleet does it. The error
    /// names everything that is missing.
    pub fn find(programs: &Path, search: &EngineSearch) -> Result<Self, ClusterError> {
        let mut missing = Vec::new();
        // Processes run in directories of their own, so paths are absolute.
        let program = |name: &str| programs.join(name).canonicalize().ok().filter(|path| path.is_file());
        let fleet = program("tenterhook-fleet");
        if fleet.is_none() {
            missing.push("`tenterhook-fleet` is not built: cargo build -p tenterhook-fleet".to_owned());
        }
        let mut engine = |found: Result<PathBuf, tenterhook_fleet_server::FleetError>| match found {
            Ok(path) => path.canonicalize().ok(),
            Err(error) => {
                missing.push(format!("{error}: {}", error.hint().unwrap_or_default()));
                None
            }
        };
        let nats_server = engine(search.find_nats_server());
        let postgres_bin = engine(search.find_postgres());
        if find_tool("setpriv").is_none() {
            missing.push("`setpriv` is not installed: apt-get install util-linux".to_owned());
        }
        match (fleet, nats_server, postgres_bin) {
            (Some(fleet), Some(nats_server), Some(postgres_bin)) if missing.is_empty() => {
                Ok(Self { fleet, tenterhook: program("tenterhook"), nats_server, postgres_bin })
            }
            _ => Err(ClusterError::Missing(missing)),
        }
    }

    /// Returns `tenterhook`, or an error that says how to build it.
    pub(crate) fn tenterhook(&self) -> Result<&Path, ClusterError> {
        self.tenterhook.as_deref().ok_or_else(|| {
            ClusterError::Missing(vec!["`tenterhook` is not built: cargo build -p tenterhook".to_owned()])
        })
    }
}

/// Finds a tool of the system.
pub(crate) fn find_tool(name: &str) -> Option<PathBuf> {
    TOOL_DIRS.iter().map(|dir| Path::new(dir).join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_missing_is_named_at_once() {
        let search = EngineSearch {
            nats_server: Some("/nonexistent".into()),
            postgres_bin: Some("/nonexistent".into()),
            path: None,
        };
        let error = ClusterPrograms::find(Path::new("/nonexistent"), &search).unwrap_err().to_string();
        for name in ["tenterhook-fleet", "nats-server", "PostgreSQL"] {
            assert!(error.contains(name), "{error}");
        }
    }
}
