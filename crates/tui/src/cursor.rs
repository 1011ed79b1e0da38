// SPDX-License-Identifier: Apache-2.0 OR MIT

/// A place in a list that grows at its begin: what is chosen keeps its row on the screen while others
/// come in above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cursor<T> {
    /// What is chosen; `None`: always the first.
    chosen: Option<T>,
    /// The row of the screen it is in.
    row: usize,
}

impl<T> Default for Cursor<T> {
    fn default() -> Self {
        Self { chosen: None, row: 0 }
    }
}

impl<T: Clone + PartialEq> Cursor<T> {
    /// Whether it stays with the first, whatever comes.
    pub(crate) fn follows(&self) -> bool {
        self.chosen.is_none()
    }

    /// Where it is in a list. What has gone leaves it at the last.
    pub(crate) fn index(&self, list: &[T]) -> usize {
        let Some(chosen) = &self.chosen else { return 0 };
        let found = list.iter().position(|one| one == chosen);
        found.unwrap_or_else(|| list.len().saturating_sub(1))
    }

    /// The first of a list that is shown on so many rows, and which row is chosen.
    pub(crate) fn window(&self, list: &[T], rows: usize) -> (usize, usize) {
        let index = self.index(list);
        let row = self.row.min(rows.saturating_sub(1)).min(index);
        let first = (index - row)
            .min(list.len().saturating_sub(rows).max(index.saturating_sub(rows.saturating_sub(1))));
        (first, index - first)
    }

    /// Goes up or down by so many.
    pub(crate) fn go(&mut self, list: &[T], by: isize, rows: usize) {
        let (first, row) = self.window(list, rows);
        let target = self.index(list).saturating_add_signed(by).min(list.len().saturating_sub(1));
        let moved = row.saturating_add_signed(by);
        self.row = if by < 0 && row < by.unsigned_abs() { 0 } else { moved.min(rows.saturating_sub(1)) };
        if first == 0 && by < 0 {
            self.row = target;
        }
        self.chosen = if target == 0 { None } else { list.get(target).cloned() };
    }

    /// Back to the first.
    pub(crate) fn first(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen_stays_where_it_is_while_others_come() {
        let mut list: Vec<u32> = (0..100).rev().collect();
        let mut cursor = Cursor::default();
        assert!(cursor.follows() && list.get(cursor.index(&list)).copied() == Some(99));
        cursor.go(&list, 3, 10);
        assert_eq!((list.get(cursor.index(&list)).copied(), cursor.window(&list, 10)), (Some(96), (0, 3)));
        list.insert(0, 100);
        list.insert(0, 101);
        assert_eq!((list.get(cursor.index(&list)).copied(), cursor.window(&list, 10)), (Some(96), (2, 3)));
        cursor.go(&list, 10, 10);
        assert_eq!((list.get(cursor.index(&list)).copied(), cursor.window(&list, 10)), (Some(86), (6, 9)));
        cursor.go(&list, -1000, 10);
        assert!(cursor.follows() && cursor.window(&list, 10) == (0, 0));
        cursor.go(&list, 1000, 10);
        assert_eq!((list.get(cursor.index(&list)).copied(), cursor.window(&list, 10)), (Some(0), (92, 9)));
        list.truncate(50);
        assert_eq!((cursor.index(&list), cursor.window(&list, 10)), (49, (40, 9)), "it was taken away");
    }

    #[test]
    fn any_list_has_a_window_on_any_screen() {
        for length in 0..12 {
            let list: Vec<usize> = (0..length).collect();
            for rows in 0..5 {
                let mut cursor = Cursor::default();
                for by in [1, 1, 3, -2, 9, -1, 1, -20] {
                    cursor.go(&list, by, rows);
                    let (first, row) = cursor.window(&list, rows);
                    assert_eq!(first + row, cursor.index(&list), "{length} {rows}");
                    assert!(row < rows.max(1), "{length} {rows}");
                }
            }
        }
    }
}
