// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The symbolic links on the way to the paths of a call. Whoever can look at the disk says what they
//! are; here only the way is walked, the same one when it is looked at and when it is judged.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

/// More links on one way than this lead nowhere, as on most systems.
const DEEPEST: usize = 40;
/// No system has longer paths.
const LONGEST: usize = 4096;
/// Somebody waits: at about a microsecond each this many looks are a few milliseconds.
const MOST_LOOKS: usize = 4096;
/// Directories that are gone through for one call, again and again if links lead there.
const MOST_STEPS: usize = 1 << 16;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// A symbolic link, and what it says.
    Link(String),
    /// Something else, which may be a directory.
    Other,
    /// Nothing, or nothing to go through: what is below is not looked at.
    Nothing,
}

/// The links that were seen, so that a call can be judged by them, now and when it is judged again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// What each link says, by its own place.
    pub links: BTreeMap<String, String>,
    /// Whether there was more to look at than is looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A way to go.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    /// From the root, with every `..` still in it.
    pub path: &'a str,
    /// Whether `*`, `?` and `[…]` in it are a pattern.
    pub pattern: bool,
    /// Whether a link at its end is meant, not what it leads to.
    pub itself: bool,
}

/// How many more directories are gone through.
#[derive(Debug)]
pub struct Steps(Cell<usize>);

impl Default for Steps {
    fn default() -> Self {
        Self(Cell::new(MOST_STEPS))
    }
}

impl Steps {
    fn take(&self) -> Option<()> {
        self.0.set(self.0.get().checked_sub(1)?);
        Some(())
    }

    /// Whether no more are gone through.
    pub fn are_spent(&self) -> bool {
        self.0.get() == 0
    }
}

impl Seen {
    /// Goes all these ways and notes the links. Every place is looked at once.
    pub fn look<'a>(ways: impl IntoIterator<Item = Way<'a>>, look: &mut dyn FnMut(&str) -> Sight) -> Self {
        let mut known: HashMap<String, Sight> = HashMap::new();
        let mut seen = Self::default();
        let (steps, mut gone) = (Steps::default(), HashSet::new());
        for way in ways.into_iter().filter(|way| gone.insert(way.path)) {
            way.walk(&steps, |place| {
                if let Some(sight) = known.get(place) {
                    return sight.clone();
                }
                if known.len() >= MOST_LOOKS {
                    seen.cut = true;
                    return Sight::Nothing;
                }
                let sight = if is_strange(place) { Sight::Nothing } else { look(place) };
                if let Sight::Link(says) = &sight {
                    seen.links.insert(place.to_owned(), says.clone());
                }
                known.insert(place.to_owned(), sight.clone());
                sight
            });
        }
        seen.cut |= steps.are_spent();
        seen
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty() && !self.cut
    }

    /// Where a way leads. `None` when it leads in a circle, or too far.
    pub(crate) fn end(&self, way: Way<'_>, steps: &Steps) -> Option<String> {
        way.walk(steps, |place| self.links.get(place).map_or(Sight::Other, |says| Sight::Link(says.clone())))
    }
}

/// Where links are not files: what they say depends on who asks.
fn is_strange(place: &str) -> bool {
    matches!(place, "/proc" | "/sys")
        || place.starts_with("/dev/") && place != "/dev/shm" && !place.starts_with("/dev/shm/")
}

impl Way<'_> {
    /// Goes there as a system does: `..` leads up from where a link has led to.
    fn walk(self, steps: &Steps, mut look: impl FnMut(&str) -> Sight) -> Option<String> {
        let mut at = String::with_capacity(self.path.len());
        let mut rest = self.path.to_owned();
        let (mut done, mut links, mut there) = (0, 0, true);
        while let Some(tail) = rest.get(done..).map(|tail| tail.trim_start_matches('/')) {
            let (part, after) = match tail.find('/') {
                Some(end) => tail.split_at(end),
                None => (tail, ""),
            };
            done = rest.len() - after.len();
            steps.take()?;
            match part {
                "" => break,
                "." => continue,
                ".." => {
                    at.truncate(at.rfind('/').unwrap_or(0));
                    continue;
                }
                part => {
                    at.push('/');
                    at.push_str(part);
                    there &= !(self.pattern && part.contains(['*', '?', '[']));
                }
            }
            if !there || at.len() > LONGEST || self.itself && after.is_empty() {
                continue;
            }
            match look(&at) {
                Sight::Other => {}
                Sight::Nothing => there = false,
                Sight::Link(says) => {
                    links += 1;
                    if links > DEEPEST || says.len() + after.len() > 2 * LONGEST {
                        return None;
                    }
                    let up = if says.starts_with('/') { 0 } else { at.rfind('/').unwrap_or(0) };
                    at.truncate(up);
                    rest = says + after;
                    done = 0;
                }
            }
        }
        Some(if at.is_empty() { "/".to_owned() } else { at })
    }
}

#[cfg(test)]
mod tests;
