// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Divides the screen, and finds the part at a position.

use ratatui::layout::{Constraint, Layout, Position, Rect};

use super::frame::tab_at;
use crate::state::{TuiState, ViewTab};

/// Minimum width of a list beside a preview.
const MIN_LIST_COLUMNS: u16 = 70;

/// Areas of the screen.
pub(super) struct ScreenAreas {
    pub(super) tabs: Rect,
    /// The chart above a list; empty if there is none.
    pub(super) chart: Rect,
    /// The list, the open page, or the help.
    pub(super) list: Rect,
    /// The selected entry beside the list.
    pub(super) preview: Option<Rect>,
    pub(super) status_line: Rect,
    pub(super) keys: Rect,
}

/// What is at a position of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScreenPart {
    Tab(ViewTab),
    /// A row of the list, counted from 0.
    Row(usize),
    Preview,
    Other,
}

pub(super) fn screen_areas(state: &TuiState, screen: Rect) -> ScreenAreas {
    let chart = u16::from(state.has_chart());
    let rows = [1, chart].map(Constraint::Length).into_iter();
    let rows = rows.chain([Constraint::Min(0), Constraint::Length(1), Constraint::Length(1)]);
    let parts = Layout::vertical(rows).split(screen);
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    let body = part(2);
    let (list, preview) = if state.is_split() {
        let list = (body.width / 20 * 11).max(MIN_LIST_COLUMNS);
        let [list, preview] = Layout::horizontal([Constraint::Length(list), Constraint::Min(0)]).areas(body);
        (list, Some(preview))
    } else {
        (body, None)
    };
    ScreenAreas { tabs: part(0), chart: part(1), list, preview, status_line: part(3), keys: part(4) }
}

/// Returns the part of the screen at a position.
pub(crate) fn part_at(state: &TuiState, column: u16, row: u16) -> ScreenPart {
    let areas = screen_areas(state, Rect::new(0, 0, state.size.0, state.size.1));
    let position = Position::new(column, row);
    if areas.tabs.contains(position) {
        return tab_at(state, column).map_or(ScreenPart::Other, ScreenPart::Tab);
    }
    if areas.preview.is_some_and(|preview| preview.contains(position)) {
        return ScreenPart::Preview;
    }
    let is_list = state.pages.is_empty() && !state.help && state.tab != ViewTab::Statistics;
    // The first row of a list is its heading.
    if is_list && areas.list.contains(position) && row > areas.list.y {
        return ScreenPart::Row(usize::from(row - areas.list.y - 1));
    }
    ScreenPart::Other
}
