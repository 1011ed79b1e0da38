// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Resolves paths through the symbolic links in a [`LinkMap`].

use super::link_map::{LinkMap, PathWalk, WalkBudget};
use super::path::{PathFact, PathRoots, TEMP_DIRS, WrittenPath, resolve, strip_directory};

impl PathFact {
    /// Creates the walk to this path; `None` if its start is unknown. With `keep_last_link`, a link in the last
    /// component is not followed.
    pub fn to_walk(&self, keep_last_link: bool) -> Option<PathWalk<'_>> {
        let path = self.unnormalized.as_deref().or(self.resolved.as_deref())?;
        Some(PathWalk {
            path,
            pattern: self.pattern || self.dynamic,
            keep_last_link: keep_last_link && !self.text.ends_with('/'),
        })
    }
}

impl PathRoots {
    /// Adds the real paths of home, project and temporary directories. A path is then recognized below the known name
    /// of a directory and below its real path.
    #[must_use]
    pub fn with_links(mut self, map: &LinkMap) -> Self {
        if map.links.is_empty() {
            return self;
        }
        let real = |path: &str| {
            let end =
                map.end(PathWalk { path, pattern: false, keep_last_link: false }, &WalkBudget::default())?;
            resolve(None, &end).filter(|end| end != path)
        };
        let real_home = real(&self.home);
        let holds_home = |path: &str| {
            let homes = [Some(&self.home), real_home.as_ref()];
            homes.into_iter().flatten().any(|home| strip_directory(home, path).is_some())
        };
        // A project whose real path is a home directory, or a parent of one, is not treated as a project.
        let real_project = self.project.as_deref().and_then(real);
        let contains_home = real_project.as_deref().is_some_and(holds_home);
        let mut aliases = Vec::new();
        if !contains_home && let (Some(real), Some(name)) = (real_project, &self.project) {
            aliases.push((real, name.clone()));
        }
        let temps = TEMP_DIRS.iter().filter_map(|temp| Some((real(temp)?, (*temp).to_owned())));
        aliases.extend(temps.filter(|(real, _)| !holds_home(real)));
        if contains_home {
            self.project = None;
        }
        aliases.extend(real_home.map(|real| (real, self.home.clone())));
        self.aliases = aliases;
        self
    }

    /// Returns the paths to which a path leads according to each of the link maps. Paths that equal its lexical form
    /// are left out.
    pub fn follow_links(
        &self,
        path: &PathFact,
        keep_last_link: bool,
        maps: &[&LinkMap],
        budget: &WalkBudget,
    ) -> Vec<PathFact> {
        let mut targets: Vec<PathFact> = Vec::new();
        let (Some(walk), Some(lexical)) = (path.to_walk(keep_last_link), path.resolved.as_deref()) else {
            return targets;
        };
        for end in maps.iter().filter_map(|map| map.end(walk, budget)) {
            let written =
                WrittenPath { text: &path.text, shape: &end, dynamic: path.dynamic, pattern: path.pattern };
            let real = self.classify(&written, None);
            if let Some(there) = real.resolved.as_deref().filter(|there| *there != lexical)
                && targets.iter().all(|other| other.resolved != real.resolved)
            {
                let is_alias = self.to_known_name(there) == self.to_known_name(lexical);
                targets.push(PathFact { is_alias, is_not_read: path.is_not_read, ..real });
            }
        }
        targets
    }
}
