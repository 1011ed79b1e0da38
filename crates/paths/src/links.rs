// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Paths that lead through links: where they really lead, by the links that a caller saw.

use super::path::{Found, Ground, PathFact, TEMP, below, resolve};
use super::seen::{Seen, Steps, Way};

impl PathFact {
    /// The way to it; `None` if its start is unknown. `itself` says that a link at its end is meant, not what it leads to.
    pub fn way(&self, itself: bool) -> Option<Way<'_>> {
        let path = self.walked.as_deref().or(self.resolved.as_deref())?;
        Some(Way { path, pattern: self.pattern || self.dynamic, itself: itself && !self.text.ends_with('/') })
    }
}

impl Ground {
    /// The same ground, by the real names of its places too.
    #[must_use]
    pub fn with_links(mut self, seen: &Seen) -> Self {
        if seen.links.is_empty() {
            return self;
        }
        let real = |path: &str| {
            let end = seen.end(Way { path, pattern: false, itself: false }, &Steps::default())?;
            resolve(None, &end).filter(|end| end != path)
        };
        let real_home = real(&self.home);
        let holds_home = |path: &str| {
            let homes = [Some(&self.home), real_home.as_ref()];
            homes.into_iter().flatten().any(|home| below(home, path).is_some())
        };
        // A project that really is a home, or holds one, is none.
        let real_project = self.project.as_deref().and_then(real);
        let held = real_project.as_deref().is_some_and(holds_home);
        let mut roots = Vec::new();
        if !held && let (Some(real), Some(name)) = (real_project, &self.project) {
            roots.push((real, name.clone()));
        }
        let temps = TEMP.iter().filter_map(|temp| Some((real(temp)?, (*temp).to_owned())));
        roots.extend(temps.filter(|(real, _)| !holds_home(real)));
        if held {
            self.project = None;
        }
        roots.extend(real_home.map(|real| (real, self.home.clone())));
        self.roots = roots;
        self
    }

    /// The places a path leads to, by one reading of the links or another, if its letters do not say so.
    pub fn follow(&self, path: &PathFact, itself: bool, readings: &[&Seen], steps: &Steps) -> Vec<PathFact> {
        let mut led: Vec<PathFact> = Vec::new();
        let (Some(way), Some(letters)) = (path.way(itself), path.resolved.as_deref()) else { return led };
        for end in readings.iter().filter_map(|seen| seen.end(way, steps)) {
            let found = Found { text: &path.text, shape: &end, dynamic: path.dynamic, pattern: path.pattern };
            let real = self.fact(&found, None);
            if let Some(there) = real.resolved.as_deref().filter(|there| *there != letters)
                && led.iter().all(|other| other.resolved != real.resolved)
            {
                let again = self.named(there) == self.named(letters);
                led.push(PathFact { again, spared: path.spared, ..real });
            }
        }
        led
    }
}
