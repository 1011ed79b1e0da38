// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::VecDeque;

use crate::cursor::Cursor;
use crate::read::{Card, Line, Session};

/// Something that is one row of a list.
pub(crate) trait Row {
    type Key: Clone + PartialEq;
    /// Keys have the order of the rows: whatever comes before the first is new.
    const IN_ORDER: bool;
    /// What it is known by.
    fn key(&self) -> Self::Key;
    /// Whether that is its key.
    fn is(&self, key: &Self::Key) -> bool;
    /// Whether it comes before another one.
    fn before(&self, other: &Self) -> bool;
    /// Whether every word occurs in it.
    fn fits(&self, words: &[String]) -> bool;
}

/// A list, in order, with what is chosen and what is left out.
pub(crate) struct Table<T: Row> {
    rows: VecDeque<T>,
    most: usize,
    cursor: Cursor<T::Key>,
    /// Words that a row has to contain.
    pub(crate) filter: String,
}

impl<T: Row> Table<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self { rows: VecDeque::new(), most, cursor: Cursor::default(), filter: String::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= self.most
    }

    pub(crate) fn last(&self) -> Option<&T> {
        self.rows.back()
    }

    pub(crate) fn find(&self, key: &T::Key) -> Option<&T> {
        self.rows.iter().find(|row| row.is(key))
    }

    /// Puts a row where it belongs, in place of the one of the same key. Whether it is new.
    pub(crate) fn put(&mut self, row: T) -> bool {
        let first = T::IN_ORDER && self.rows.front().is_some_and(|front| row.before(front));
        let key = row.key();
        let known = if first { None } else { self.rows.iter().position(|other| other.is(&key)) };
        if let Some(at) = known {
            self.rows.remove(at);
        }
        let at = self.rows.iter().position(|other| row.before(other)).unwrap_or(self.rows.len());
        if at < self.most {
            self.rows.insert(at, row);
            self.rows.truncate(self.most);
        }
        known.is_none()
    }

    /// These and no others.
    pub(crate) fn replace(&mut self, rows: Vec<T>) {
        self.rows.clear();
        for row in rows {
            self.put(row);
        }
    }

    /// What fits the filter.
    pub(crate) fn shown(&self) -> Vec<&T> {
        let words = words(&self.filter);
        self.rows.iter().filter(|row| row.fits(&words)).collect()
    }

    /// The rows that are on so many rows of the screen, and which of them is chosen.
    pub(crate) fn window(&self, rows: usize) -> (Vec<&T>, usize) {
        let shown = self.shown();
        let (first, row) = self.cursor.window(&keys(&shown), rows);
        (shown.into_iter().skip(first).take(rows).collect(), row)
    }

    /// Where in the list it is, from one on, and of how many.
    pub(crate) fn place(&self) -> (usize, usize) {
        let shown = self.shown();
        (self.cursor.index(&keys(&shown)) + 1, shown.len())
    }

    pub(crate) fn chosen(&self) -> Option<&T> {
        let shown = self.shown();
        let index = self.cursor.index(&keys(&shown));
        shown.get(index).copied()
    }

    /// Whether the first is chosen, whatever comes.
    pub(crate) fn follows(&self) -> bool {
        self.cursor.follows()
    }

    /// Goes up or down. Whether that is the last row.
    pub(crate) fn go(&mut self, by: isize, rows: usize) -> bool {
        let keys = keys(&self.shown());
        self.cursor.go(&keys, by, rows);
        self.cursor.index(&keys) + 1 >= keys.len()
    }

    pub(crate) fn first(&mut self) {
        self.cursor.first();
    }
}

fn keys<T: Row>(rows: &[&T]) -> Vec<T::Key> {
    rows.iter().map(|row| row.key()).collect()
}

fn words(filter: &str) -> Vec<String> {
    filter.to_lowercase().split_whitespace().map(ToOwned::to_owned).collect()
}

impl Row for Line {
    type Key = u64;
    const IN_ORDER: bool = true;

    fn key(&self) -> u64 {
        self.seq
    }

    fn is(&self, key: &u64) -> bool {
        self.seq == *key
    }

    /// The latest comes first.
    fn before(&self, other: &Self) -> bool {
        self.seq > other.seq
    }

    fn fits(&self, words: &[String]) -> bool {
        self.fits(words)
    }
}

impl Row for Session {
    type Key = String;
    const IN_ORDER: bool = false;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn is(&self, key: &String) -> bool {
        self.key == *key
    }

    /// Whoever was heard of last comes first.
    fn before(&self, other: &Self) -> bool {
        self.last > other.last
    }

    fn fits(&self, words: &[String]) -> bool {
        self.fits(words)
    }
}

impl Row for Card {
    type Key = String;
    const IN_ORDER: bool = false;

    fn key(&self) -> String {
        self.id.clone()
    }

    fn is(&self, key: &String) -> bool {
        self.id == *key
    }

    /// Whoever has the least time left comes first.
    fn before(&self, other: &Self) -> bool {
        self.until < other.until
    }

    fn fits(&self, words: &[String]) -> bool {
        self.fits(words)
    }
}
