// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use tenterhook_event::{Touch, Touches};

/// How many paths a session keeps.
const MOST: usize = 500;

/// What a session did to which files.
#[derive(Debug, Default)]
pub(super) struct Files {
    touched: BTreeMap<String, Touched>,
    left_out: u64,
    /// Of files that are not listed any more: read, written, deleted.
    before: (usize, usize, usize),
}

/// How often one file was touched.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub(super) struct Touched {
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) deletes: u64,
}

impl Files {
    pub(super) fn read(&mut self, paths: &[&str]) {
        for path in paths {
            self.touch(path, |touched| touched.reads += 1);
        }
    }

    pub(super) fn wrote(&mut self, paths: &[&str]) {
        for path in paths {
            self.touch(path, |touched| touched.writes += 1);
        }
    }

    /// A command or patch did something to a file.
    pub(super) fn did(&mut self, touch: &Touch) {
        self.touch(&touch.path, |touched| match touch.how {
            Touches::Reads => touched.reads += 1,
            Touches::Writes => touched.writes += 1,
            Touches::Deletes => touched.deletes += 1,
        });
    }

    fn touch(&mut self, path: &str, how: impl FnOnce(&mut Touched)) {
        if self.touched.len() >= MOST && !self.touched.contains_key(path) {
            self.left_out += 1;
            return;
        }
        how(self.touched.entry(path.to_owned()).or_default());
    }

    /// Something touched files that are not known.
    pub(super) fn leave_out(&mut self, number: u64) {
        self.left_out += number;
    }

    /// Keeps the numbers and forgets the names.
    pub(super) fn shrink(&mut self) {
        self.before = self.numbers();
        self.left_out += u64::try_from(self.touched.len()).unwrap_or(u64::MAX);
        self.touched = BTreeMap::new();
    }

    /// How many files were read, written and deleted.
    fn numbers(&self) -> (usize, usize, usize) {
        let count =
            |did: fn(&Touched) -> u64| self.touched.values().filter(|touched| did(touched) > 0).count();
        let (read, written, deleted) = self.before;
        (
            read + count(|touched| touched.reads),
            written + count(|touched| touched.writes),
            deleted + count(|touched| touched.deletes),
        )
    }

    pub(super) fn counts(&self) -> Value {
        let (read, written, deleted) = self.numbers();
        json!({"read": read, "written": written, "deleted": deleted, "left_out": self.left_out})
    }

    pub(super) fn list(&self) -> Value {
        let entry = |(path, touched): (&String, &Touched)| json!({"path": path, "reads": touched.reads, "writes": touched.writes, "deletes": touched.deletes});
        self.touched.iter().map(entry).collect()
    }
}
