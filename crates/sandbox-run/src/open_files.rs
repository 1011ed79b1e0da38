// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Divides the supervisor's file descriptors: connections of the run may not use those that the undo needs.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Limit on open files that a supervisor sets for itself. A higher limit stays.
const WANTED_FILES: u64 = 8192;
/// Maximum number of connections of a proxy.
const MAX_CONNECTIONS: u64 = 512;
/// A connection has two descriptors. At most half of all descriptors belong to connections.
const FILES_PER_CONNECTION: u64 = 4;

/// Raises the limit on open files as far as the system allows, and returns the maximum number of connections. The command
/// has started before, with the limit of the user.
pub(crate) fn proxy_connections() -> usize {
    let limits = getrlimit(Resource::Nofile);
    let wanted = limits.maximum.map_or(WANTED_FILES, |most| most.min(WANTED_FILES));
    let Some(current) = limits.current else { return connections_for(u64::MAX) };
    if current >= wanted {
        return connections_for(current);
    }
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limits.maximum });
    connections_for(if raised.is_ok() { wanted } else { current })
}

fn connections_for(files: u64) -> usize {
    usize::try_from((files / FILES_PER_CONNECTION).clamp(1, MAX_CONNECTIONS)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_half_of_the_descriptors() {
        for files in [64, 256, 1024, 2048, 4096, 1 << 20] {
            let used = u64::try_from(connections_for(files)).unwrap() * 2;
            assert!(used <= files / 2, "{used} of {files}");
        }
        assert_eq!(connections_for(1 << 20), 512);
    }

    #[test]
    fn the_limit_is_raised() {
        let _ = proxy_connections();
        let limits = getrlimit(Resource::Nofile);
        let wanted = limits.maximum.map_or(WANTED_FILES, |most| most.min(WANTED_FILES));
        assert!(limits.current.is_none_or(|current| current >= wanted));
    }
}
