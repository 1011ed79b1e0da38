// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::VecDeque;

use crate::list_cursor::ListCursor;
use crate::parse::{CallRow, PendingApproval, SessionRow};

/// A row of a list.
pub(crate) trait ListRow {
    type Key: Clone + PartialEq;
    /// Whether keys sort in the same order as rows. A row that sorts before the first row is then known to be new.
    const KEYS_ARE_ORDERED: bool;
    /// Returns the key of the row.
    fn key(&self) -> Self::Key;
    /// Whether the row has this key.
    fn has_key(&self, key: &Self::Key) -> bool;
    /// Whether the row sorts before another row.
    fn sorts_before(&self, other: &Self) -> bool;
    /// Whether the row contains every word; words are in lower case.
    fn matches(&self, words: &[String]) -> bool;
}

/// A sorted list with a selection and a filter.
pub(crate) struct FilteredList<T: ListRow> {
    rows: VecDeque<T>,
    max_rows: usize,
    cursor: ListCursor<T::Key>,
    /// Words that visible rows must contain.
    pub(crate) filter: String,
}

impl<T: ListRow> FilteredList<T> {
    pub(crate) fn new(max_rows: usize) -> Self {
        Self { rows: VecDeque::new(), max_rows, cursor: ListCursor::default(), filter: String::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the first rows.
    pub(crate) fn newest(&self, number: usize) -> impl Iterator<Item = &T> {
        self.rows.iter().take(number)
    }

    /// Returns the first row, to change what does not change its order.
    pub(crate) fn first_mut(&mut self) -> Option<&mut T> {
        self.rows.front_mut()
    }

    /// Keeps only some rows.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.rows.retain(keep);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= self.max_rows
    }

    pub(crate) fn last(&self) -> Option<&T> {
        self.rows.back()
    }

    pub(crate) fn find(&self, key: &T::Key) -> Option<&T> {
        self.rows.iter().find(|row| row.has_key(key))
    }

    /// Inserts a row in order, or replaces the row with the same key. Returns whether the row is new.
    pub(crate) fn upsert(&mut self, row: T) -> bool {
        let key = row.key();
        let first = T::KEYS_ARE_ORDERED
            && self.rows.front().is_some_and(|front| row.sorts_before(front) && !front.has_key(&key));
        let known = if first { None } else { self.rows.iter().position(|other| other.has_key(&key)) };
        if let Some(at) = known {
            self.rows.remove(at);
        }
        let at = self.rows.iter().position(|other| row.sorts_before(other)).unwrap_or(self.rows.len());
        if at < self.max_rows {
            self.rows.insert(at, row);
            self.rows.truncate(self.max_rows);
        }
        known.is_none()
    }

    /// Replaces all rows.
    pub(crate) fn replace(&mut self, rows: Vec<T>) {
        self.rows.clear();
        for row in rows {
            self.upsert(row);
        }
    }

    /// Returns the rows that match the filter.
    pub(crate) fn visible_rows(&self) -> Vec<&T> {
        let words = filter_words(&self.filter);
        self.rows.iter().filter(|row| row.matches(&words)).collect()
    }

    /// Returns the rows on a screen with `rows` rows, and the index of the selected one.
    pub(crate) fn window(&self, rows: usize) -> (Vec<&T>, usize) {
        let shown = self.visible_rows();
        let (first, row) = self.cursor.window(&row_keys(&shown), rows);
        (shown.into_iter().skip(first).take(rows).collect(), row)
    }

    /// Returns the position of the selected row, counted from 1, and the number of visible rows.
    pub(crate) fn position(&self) -> (usize, usize) {
        let shown = self.visible_rows();
        (self.cursor.index(&row_keys(&shown)) + 1, shown.len())
    }

    pub(crate) fn selected(&self) -> Option<&T> {
        let shown = self.visible_rows();
        let index = self.cursor.index(&row_keys(&shown));
        shown.get(index).copied()
    }

    /// Whether the selection follows the first row.
    pub(crate) fn follows_first(&self) -> bool {
        self.cursor.follows_first()
    }

    /// Moves the selection. Returns whether the last row is now selected.
    pub(crate) fn move_by(&mut self, by: isize, rows: usize) -> bool {
        let keys = row_keys(&self.visible_rows());
        self.cursor.move_by(&keys, by, rows);
        self.cursor.index(&keys) + 1 >= keys.len()
    }

    /// Selects the row that is on this row of a screen with `rows` rows. Returns false if the screen row is empty.
    pub(crate) fn select_screen_row(&mut self, row: usize, rows: usize) -> bool {
        let (shown, selected) = self.window(rows);
        let is_filled = row < shown.len();
        if is_filled && let (Ok(to), Ok(from)) = (isize::try_from(row), isize::try_from(selected)) {
            self.move_by(to - from, rows);
        }
        is_filled
    }

    pub(crate) fn select_first(&mut self) {
        self.cursor.select_first();
    }
}

fn row_keys<T: ListRow>(rows: &[&T]) -> Vec<T::Key> {
    rows.iter().map(|row| row.key()).collect()
}

fn filter_words(filter: &str) -> Vec<String> {
    filter.to_lowercase().split_whitespace().map(ToOwned::to_owned).collect()
}

impl FilteredList<SessionRow> {
    /// Returns the key of the only session whose key or id begins with a text.
    pub(crate) fn find_key(&self, text: &str) -> Option<String> {
        let matches = |row: &&SessionRow| row.key.starts_with(text) || row.id.starts_with(text);
        let mut found = self.rows.iter().filter(matches);
        match (found.next(), found.next()) {
            (Some(row), None) if !text.is_empty() => Some(row.key.clone()),
            _ => None,
        }
    }
}

impl ListRow for CallRow {
    type Key = u64;
    const KEYS_ARE_ORDERED: bool = true;

    fn key(&self) -> u64 {
        self.oldest()
    }

    fn has_key(&self, key: &u64) -> bool {
        self.oldest() == *key
    }

    /// Sorts the latest call first.
    fn sorts_before(&self, other: &Self) -> bool {
        self.seq > other.seq
    }

    fn matches(&self, words: &[String]) -> bool {
        self.matches(words)
    }
}

impl ListRow for SessionRow {
    type Key = String;
    const KEYS_ARE_ORDERED: bool = false;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn has_key(&self, key: &String) -> bool {
        self.key == *key
    }

    /// Sorts the session with the latest event first.
    fn sorts_before(&self, other: &Self) -> bool {
        self.last > other.last
    }

    fn matches(&self, words: &[String]) -> bool {
        self.matches(words)
    }
}

impl ListRow for PendingApproval {
    type Key = String;
    const KEYS_ARE_ORDERED: bool = false;

    fn key(&self) -> String {
        self.id.clone()
    }

    fn has_key(&self, key: &String) -> bool {
        self.id == *key
    }

    /// Sorts the approval with the least time left first.
    fn sorts_before(&self, other: &Self) -> bool {
        self.until < other.until
    }

    fn matches(&self, words: &[String]) -> bool {
        self.matches(words)
    }
}
