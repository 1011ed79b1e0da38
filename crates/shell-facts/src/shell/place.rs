// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The working directory of a script, as far as it can be known: `cd` may fail, and may be skipped.

use tenterhook_paths::resolve;

/// More directories than this count as any.
const MOST: usize = 8;

/// Longer than any directory is.
const LONGEST: usize = 4096;

/// Where a script may be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Directory {
    /// Where it is if all went as written; `None` when that cannot be told.
    main: Option<String>,
    /// Where it is if something before was skipped.
    others: Vec<String>,
    /// Where it still is if the last `cd` failed.
    stayed: Vec<String>,
}

impl Directory {
    pub(super) fn new(main: Option<String>) -> Self {
        Self { main, ..Self::default() }
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
        self.others.iter().chain(&self.stayed).map(String::as_str)
    }

    /// After `cd`; with `fails` it may not have worked. `None` is a directory nobody knows.
    pub(super) fn change(&mut self, to: Option<&str>, fails: bool) {
        let mut before = std::mem::take(self);
        let Some(to) = to else { return };
        // Who goes back up takes it that going down has worked.
        if to.starts_with("..") && to.chars().all(|c| matches!(c, '.' | '/')) {
            before.worked();
        }
        self.main = resolve(before.main(), to);
        for other in before.others() {
            add(&mut self.others, resolve(Some(other), to), self.main.as_ref());
        }
        if fails && self.main.is_some() {
            let main = self.main.clone();
            for other in before.main().into_iter().chain(before.others()) {
                add(&mut self.stayed, Some(other.to_owned()), main.as_ref());
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
        let main = self.main.clone();
        for place in other.main().into_iter().chain(other.others()) {
            add(&mut self.others, Some(place.to_owned()), main.as_ref());
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

fn add(list: &mut Vec<String>, place: Option<String>, main: Option<&String>) {
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
