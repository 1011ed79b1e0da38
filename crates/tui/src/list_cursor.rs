// SPDX-License-Identifier: Apache-2.0 OR MIT

/// Selection in a list that grows at the top. The selected item keeps its screen row while items are added above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListCursor<T> {
    /// Selected item; `None` to follow the first item.
    selected: Option<T>,
    /// Screen row of the selected item.
    row: usize,
}

impl<T> Default for ListCursor<T> {
    fn default() -> Self {
        Self { selected: None, row: 0 }
    }
}

impl<T: Clone + PartialEq> ListCursor<T> {
    /// Whether the selection follows the first item.
    pub(crate) fn follows_first(&self) -> bool {
        self.selected.is_none()
    }

    /// Returns the index of the selected item, or the last index if the item was removed.
    pub(crate) fn index(&self, list: &[T]) -> usize {
        let Some(selected) = &self.selected else { return 0 };
        let found = list.iter().position(|one| one == selected);
        found.unwrap_or_else(|| list.len().saturating_sub(1))
    }

    /// Returns the index of the first visible item, and the selected row, on a screen with `rows` rows.
    pub(crate) fn window(&self, list: &[T], rows: usize) -> (usize, usize) {
        let index = self.index(list);
        let row = self.row.min(rows.saturating_sub(1)).min(index);
        let first = (index - row)
            .min(list.len().saturating_sub(rows).max(index.saturating_sub(rows.saturating_sub(1))));
        (first, index - first)
    }

    /// Moves the selection by `by` items.
    pub(crate) fn move_by(&mut self, list: &[T], by: isize, rows: usize) {
        let (first, row) = self.window(list, rows);
        let target = self.index(list).saturating_add_signed(by).min(list.len().saturating_sub(1));
        let moved = row.saturating_add_signed(by);
        self.row = if by < 0 && row < by.unsigned_abs() { 0 } else { moved.min(rows.saturating_sub(1)) };
        if first == 0 && by < 0 {
            self.row = target;
        }
        self.selected = if target == 0 { None } else { list.get(target).cloned() };
    }

    /// Selects and follows the first item.
    pub(crate) fn select_first(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_item_keeps_its_row_while_others_are_added() {
        let mut list: Vec<u32> = (0..100).rev().collect();
        let mut cursor = ListCursor::default();
        assert!(cursor.follows_first() && list.get(cursor.index(&list)).copied() == Some(99));
        cursor.move_by(&list, 3, 10);
        assert_eq!((list.get(cursor.index(&list)).copied(), cursor.window(&list, 10)), (Some(96), (0, 3)));
        list.insert(0, 100);
        list.insert(0, 101);
        assert_eq!((list.get(cursor.index(&list)).copied(), cursor.window(&list, 10)), (Some(96), (2, 3)));
        cursor.move_by(&list, 10, 10);
        assert_eq!((list.get(cursor.index(&list)).copied(), cursor.window(&list, 10)), (Some(86), (6, 9)));
        cursor.move_by(&list, -1000, 10);
        assert!(cursor.follows_first() && cursor.window(&list, 10) == (0, 0));
        cursor.move_by(&list, 1000, 10);
        assert_eq!((list.get(cursor.index(&list)).copied(), cursor.window(&list, 10)), (Some(0), (92, 9)));
        list.truncate(50);
        assert_eq!((cursor.index(&list), cursor.window(&list, 10)), (49, (40, 9)), "the item was removed");
    }

    #[test]
    fn any_list_has_a_window_on_any_screen() {
        for length in 0..12 {
            let list: Vec<usize> = (0..length).collect();
            for rows in 0..5 {
                let mut cursor = ListCursor::default();
                for by in [1, 1, 3, -2, 9, -1, 1, -20] {
                    cursor.move_by(&list, by, rows);
                    let (first, row) = cursor.window(&list, rows);
                    assert_eq!(first + row, cursor.index(&list), "{length} {rows}");
                    assert!(row < rows.max(1), "{length} {rows}");
                }
            }
        }
    }
}
