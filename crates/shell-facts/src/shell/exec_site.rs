// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Describes the machine and file system in which a command runs.

use std::sync::{Arc, LazyLock};

use tenterhook_paths::{PathRoots, strip_directory};

use super::super::effect::ExecLocation;

/// Roots for paths on an unknown machine.
static UNKNOWN_ROOTS: LazyLock<Arc<PathRoots>> = LazyLock::new(|| Arc::new(PathRoots::new(None, None)));

/// A machine, container or root directory in which commands run.
#[derive(Debug)]
pub(super) struct ExecSite {
    pub(super) on: ExecLocation,
    /// Name of the machine, if it is not this one.
    pub(super) host: Option<String>,
    pub(super) roots: Arc<PathRoots>,
    /// Mounted directories: the path inside and the path in the outer site.
    pub(super) mounts: Vec<(String, String)>,
    pub(super) outer: Option<Arc<Self>>,
}

impl ExecSite {
    pub(super) fn local(roots: &PathRoots) -> Self {
        Self {
            on: ExecLocation::Here,
            host: None,
            roots: Arc::new(roots.clone()),
            mounts: Vec::new(),
            outer: None,
        }
    }

    /// Creates the site of another machine, or of a container in `outer`.
    pub(super) fn nested(
        outer: &Arc<Self>,
        on: ExecLocation,
        host: Option<String>,
        mounts: Vec<(String, String)>,
    ) -> Self {
        // A container on another machine is still on another machine.
        let on = on.max(outer.on);
        let host = host.or_else(|| outer.host.clone());
        Self { on, host, roots: Arc::clone(&UNKNOWN_ROOTS), mounts, outer: Some(Arc::clone(outer)) }
    }

    /// Returns the outermost site on the same machine, which `nsenter -t 1` enters.
    pub(super) fn outermost(self: &Arc<Self>) -> Arc<Self> {
        let mut site = Arc::clone(self);
        while let Some(outer) = site.outer.clone().filter(|_| site.on != ExecLocation::Remote) {
            site = outer;
        }
        site
    }

    /// Returns the path in the outer site, if the path is in a mounted directory.
    pub(super) fn path_outside(&self, path: &str) -> Option<(&Arc<Self>, String)> {
        let outer = self.outer.as_ref()?;
        let inner = |(inside, path_outside): &(String, String)| {
            strip_directory(path, inside).map(|rest| (inside.len(), join(path_outside, rest)))
        };
        let (_, path) = self.mounts.iter().filter_map(inner).max_by_key(|(length, _)| *length)?;
        Some((outer, path))
    }

    /// Returns the mounts below a path, as paths in the outer site.
    pub(super) fn mounts_below<'a>(
        &'a self,
        path: &'a str,
    ) -> impl Iterator<Item = (&'a Arc<Self>, &'a str)> {
        let inside = self
            .mounts
            .iter()
            .filter(move |(inside, _)| strip_directory(inside, path).is_some_and(|rest| !rest.is_empty()));
        inside.filter_map(|(_, path_outside)| Some((self.outer.as_ref()?, path_outside.as_str())))
    }
}

fn join(directory: &str, rest: &str) -> String {
    match (directory.trim_end_matches('/'), rest) {
        ("", "") => "/".to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, rest) => format!("{directory}/{rest}"),
    }
}
