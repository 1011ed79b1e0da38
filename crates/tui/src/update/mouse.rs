// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Handles the mouse: a click on a tab or a row, and the wheel.

use super::keys::{handle_key, move_selection, scroll_page, scroll_preview, switch_tab};
use crate::key_press::KeyPress;
use crate::message::{MouseAction, MouseInput, TuiCommand};
use crate::state::{TuiState, ViewTab};
use crate::view::{ScreenPart, part_at};

/// Number of rows scrolled per step of the wheel.
const ROWS_PER_WHEEL_STEP: isize = 3;

pub(super) fn handle_mouse(state: &mut TuiState, input: MouseInput) -> Vec<TuiCommand> {
    let part = part_at(state, input.column, input.row);
    match input.action {
        MouseAction::WheelUp => turn_wheel(state, part, -ROWS_PER_WHEEL_STEP),
        MouseAction::WheelDown => turn_wheel(state, part, ROWS_PER_WHEEL_STEP),
        // A click must not answer or close a question.
        MouseAction::Click if state.prompt.is_some() => Vec::new(),
        MouseAction::Click => click(state, part),
    }
}

fn turn_wheel(state: &mut TuiState, part: ScreenPart, by: isize) -> Vec<TuiCommand> {
    match part {
        ScreenPart::Preview => scroll_preview(state, by),
        _ if state.help => {}
        _ if state.pages.is_empty() => {
            let rows = state.list_rows();
            return move_selection(state, by, rows);
        }
        _ => scroll_page(state, by),
    }
    Vec::new()
}

fn click(state: &mut TuiState, part: ScreenPart) -> Vec<TuiCommand> {
    state.notice = None;
    match part {
        ScreenPart::Tab(tab) => {
            state.help = false;
            switch_tab(state, tab)
        }
        _ if state.help => {
            state.help = false;
            Vec::new()
        }
        ScreenPart::Row(row) => click_row(state, row),
        ScreenPart::Preview => handle_key(state, KeyPress::Enter),
        ScreenPart::Other => Vec::new(),
    }
}

/// Selects a row; a click on the selected row opens it.
fn click_row(state: &mut TuiState, row: usize) -> Vec<TuiCommand> {
    let rows = state.list_rows();
    let before = selected_row(state, rows);
    let is_filled = match state.tab {
        ViewTab::Live => state.calls.shown_mut().select_screen_row(row, rows),
        ViewTab::Sessions => state.sessions.select_screen_row(row, rows),
        ViewTab::Approvals => state.approvals.select_screen_row(row, rows),
        ViewTab::Statistics => false,
    };
    if is_filled && before == row { handle_key(state, KeyPress::Enter) } else { Vec::new() }
}

fn selected_row(state: &TuiState, rows: usize) -> usize {
    match state.tab {
        ViewTab::Live => state.calls.shown().window(rows).1,
        ViewTab::Sessions => state.sessions.window(rows).1,
        ViewTab::Approvals => state.approvals.window(rows).1,
        ViewTab::Statistics => 0,
    }
}
