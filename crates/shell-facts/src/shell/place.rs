// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The working directory of a script, as far as it can be known: `cd` may fail, and may be skipped.

use std::sync::Arc;

use tenterhook_paths::resolve;

/// More directories than this count as any.
const MOST: usize = 8;

/// Longer than any directory is.
const LONGEST: usize = 4096;

/// Where a script may be. Copied with every scope, so paths are shared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Directory {
    /// Where it is if all went as written; `None` when that cannot be told.
    main: Option<Arc<str>>,
    /// Where it is if something before was skipped.
    others: Vec<Arc<str>>,
    /// Where it still is if the last `cd` failed.
    stayed: Vec<Arc<str>>,
}

impl Directory {
    pub(super) fn new(main: Option<String>) -> Self {
        Self { main: main.map(Arc::from), ..Self::default() }
    }

    /// Where it is if all went as written.
    pub(super) fn main(&self) -> Option<&str> {
        self.main.as_deref()
    }

    /// Where it is, if there is no doubt.
    pub(super) fn known(&self) -> Option<&str> {
        self.main().filter(|_| self.others.is_empty() && self.stayed.is_empty())
    }

    /// Where else it may be.
    pub(super) fn others(&self) -> impl Iterator<Item = &str> {
        self.others.iter().chain(&self.stayed).map(AsRef::as_ref)
    }

    fn all(&self) -> impl Iterator<Item = &Arc<str>> {
        self.main.iter().chain(&self.others).chain(&self.stayed)
    }

    /// After `cd`; with `fails` it may not have worked. `None` is a directory nobody knows.
    pub(super) fn change(&mut self, to: Option<&str>, fails: bool) {
        let mut before = std::mem::take(self);
        let Some(to) = to else { return };
        // Who goes back up takes it that going down has worked.
        if to.starts_with("..") && to.chars().all(|c| matches!(c, '.' | '/')) {
            before.worked();
        }
        self.main = resolve(before.main(), to).map(Arc::from);
        for other in before.others() {
            let place = resolve(Some(other), to).map(Arc::from);
            add(&mut self.others, place, self.main.as_ref());
        }
        if fails && self.main.is_some() {
            for other in before.all() {
                add(&mut self.stayed, Some(Arc::clone(other)), self.main.as_ref());
            }
        }
        self.bound();
    }

    /// Something runs only because all before it worked.
    pub(super) fn worked(&mut self) {
        self.stayed.clear();
    }

    /// Either of both.
    pub(super) fn meet(&mut self, other: &Self) {
        if self == other {
            return;
        }
        if other.main.is_none() {
            *self = Self::default();
        }
        for place in other.all() {
            add(&mut self.others, Some(Arc::clone(place)), self.main.as_ref());
        }
        self.bound();
    }

    fn bound(&mut self) {
        // Every relative path is written out from here.
        let long = self.main().into_iter().chain(self.others()).any(|place| place.len() > LONGEST);
        if long || self.main.is_none() || self.others.len() + self.stayed.len() > MOST {
            *self = Self::default();
        }
    }
}

fn add(list: &mut Vec<Arc<str>>, place: Option<Arc<str>>, main: Option<&Arc<str>>) {
    if let Some(place) = place
        && main != Some(&place)
        && !list.contains(&place)
    {
        list.push(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str) -> Directory {
        Directory::new(Some(path.to_owned()))
    }

    #[test]
    fn a_change_that_may_fail_leaves_two_directories_and_success_leaves_one() {
        let mut place = at("/a");
        place.change(Some("b"), true);
        assert_eq!((place.main(), place.others().collect::<Vec<_>>()), (Some("/a/b"), vec!["/a"]));
        assert_eq!(place.known(), None);
        place.worked();
        assert_eq!(place.known(), Some("/a/b"));
    }

    #[test]
    fn too_many_directories_are_any() {
        let mut place = at("/a");
        for name in ["b", "c", "d", "e", "f"] {
            place.change(Some(name), true);
        }
        assert_eq!(place.main(), None);
    }
}
