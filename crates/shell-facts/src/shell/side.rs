// SPDX-License-Identifier: Apache-2.0 OR MIT

//! On which machine, and in which file system, a command runs.

use std::sync::{Arc, LazyLock};

use tenterhook_paths::{Ground, below};

use super::super::effect::Side;

/// What paths mean on a machine nobody knows.
static NOWHERE: LazyLock<Arc<Ground>> = LazyLock::new(|| Arc::new(Ground::new(None, None)));

/// Where commands run.
#[derive(Debug)]
pub(super) struct Where {
    pub(super) on: Side,
    /// The name of the machine, if it is another.
    pub(super) host: Option<String>,
    pub(super) ground: Arc<Ground>,
    /// Directories that are really others, further out: inside and outside.
    pub(super) mounts: Vec<(String, String)>,
    pub(super) outer: Option<Arc<Self>>,
}

impl Where {
    pub(super) fn here(ground: &Ground) -> Self {
        Self { on: Side::Here, host: None, ground: Arc::new(ground.clone()), mounts: Vec::new(), outer: None }
    }

    /// Another machine, or a container in this place.
    pub(super) fn beyond(
        outer: &Arc<Self>,
        on: Side,
        host: Option<String>,
        mounts: Vec<(String, String)>,
    ) -> Self {
        // A container on another machine is still on another machine.
        let on = on.max(outer.on);
        let host = host.or_else(|| outer.host.clone());
        Self { on, host, ground: Arc::clone(&NOWHERE), mounts, outer: Some(Arc::clone(outer)) }
    }

    /// The outermost place, which `nsenter -t 1` goes back to.
    pub(super) fn outermost(self: &Arc<Self>) -> Arc<Self> {
        let mut place = Arc::clone(self);
        while let Some(outer) = place.outer.clone().filter(|_| place.on != Side::Remote) {
            place = outer;
        }
        place
    }

    /// The same path further out, if it lies in a directory that is mounted from there.
    pub(super) fn outside(&self, path: &str) -> Option<(&Arc<Self>, String)> {
        let outer = self.outer.as_ref()?;
        let inner = |(inside, outside): &(String, String)| {
            below(path, inside).map(|rest| (inside.len(), join(outside, rest)))
        };
        let (_, path) = self.mounts.iter().filter_map(inner).max_by_key(|(length, _)| *length)?;
        Some((outer, path))
    }

    /// What is mounted below a path.
    pub(super) fn mounted_below<'a>(
        &'a self,
        path: &'a str,
    ) -> impl Iterator<Item = (&'a Arc<Self>, &'a str)> {
        let inside = self
            .mounts
            .iter()
            .filter(move |(inside, _)| below(inside, path).is_some_and(|rest| !rest.is_empty()));
        inside.filter_map(|(_, outside)| Some((self.outer.as_ref()?, outside.as_str())))
    }
}

fn join(directory: &str, rest: &str) -> String {
    match (directory.trim_end_matches('/'), rest) {
        ("", "") => "/".to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, rest) => format!("{directory}/{rest}"),
    }
}
