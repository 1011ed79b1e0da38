// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Draws the state. Designed for 80 columns and 24 rows; wider screens show more.

mod approval_page;
mod decision_page;
mod format;
mod frame;
mod help;
mod lists;
mod session_page;
mod statistics;
mod theme;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Paragraph};

use crate::state::{PageContent, TuiState, ViewTab};
use theme::Theme;

/// Styled lines of a page.
type TextLines = Vec<Line<'static>>;

/// Minimum number of columns of a wide screen. Wide screens show more.
const WIDE_COLUMNS: usize = 110;

/// Draws the whole screen.
pub fn draw(state: &TuiState, frame: &mut Frame<'_>) {
    let theme = Theme { colors: state.colors };
    let rows = [Constraint::Length(1), Constraint::Min(0), Constraint::Length(1), Constraint::Length(1)];
    let [tabs, body, status_line, keys] = Layout::vertical(rows).areas(frame.area());
    frame.render_widget(Clear, frame.area());
    frame::draw_tabs(state, theme, frame, tabs);
    if state.help {
        frame.render_widget(Paragraph::new(help::help_lines(theme)), body);
    } else if let Some(page) = state.pages.last() {
        let [head, text] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(body);
        frame::draw_title(page_title(&page.open), theme, frame, head);
        draw_page(state, theme, frame, text);
    } else {
        match state.tab {
            ViewTab::Live => lists::draw_live(state, theme, frame, body),
            ViewTab::Sessions => lists::draw_sessions(state, theme, frame, body),
            ViewTab::Approvals => lists::draw_approvals(state, theme, frame, body),
            ViewTab::Statistics => statistics::draw_statistics(state, theme, frame, body),
        }
    }
    frame::draw_status_line(state, theme, frame, status_line);
    frame::draw_key_hints(state, theme, frame, keys);
}

/// Returns the maximum scroll position of the open page.
pub(crate) fn max_scroll(state: &TuiState) -> usize {
    let theme = Theme { colors: false };
    let columns = page_columns(state, theme, usize::from(state.size.0));
    let longest = columns.iter().map(|(_, lines)| lines.len()).max().unwrap_or_default();
    longest.saturating_sub(state.list_rows())
}

fn page_title(open: &PageContent) -> String {
    match open {
        PageContent::Decision { seq, .. } => format!("Decision · record {seq}"),
        PageContent::Session { key, .. } => format!("Session · {key}"),
        PageContent::Approval { card, waits: true } => format!("Approval · {}", card.id),
        PageContent::Approval { card, waits: false } => format!("Approval closed · {}", card.id),
    }
}

/// Renders the open page as one or two columns of text.
fn page_columns(state: &TuiState, theme: Theme, width: usize) -> Vec<(usize, TextLines)> {
    let Some(page) = state.pages.last() else { return Vec::new() };
    match &page.open {
        PageContent::Decision { found, proved, .. } => {
            vec![(width, decision_page::decision_lines(found.as_deref(), proved, theme, state.clock, width))]
        }
        PageContent::Session { found, steps, .. } => {
            session_page::session_columns(found.as_deref(), steps, theme, state.clock, width)
        }
        PageContent::Approval { card, waits } => {
            vec![(width, approval_page::approval_lines(card, *waits, theme, state.clock, width))]
        }
    }
}

fn draw_page(state: &TuiState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let above = state.pages.last().map_or(0, |page| page.scroll);
    let mut left = area.x;
    let columns = page_columns(state, theme, usize::from(area.width));
    let longest = columns.iter().map(|(_, lines)| lines.len()).max().unwrap_or_default();
    let above = above.min(longest.saturating_sub(usize::from(area.height)));
    for (width, lines) in columns {
        let width = u16::try_from(width).unwrap_or(area.width);
        let column = Rect { x: left, width: width.min(area.right().saturating_sub(left)), ..area };
        let shown: TextLines = lines.into_iter().skip(above).take(usize::from(area.height)).collect();
        frame.render_widget(Paragraph::new(shown), column);
        left = left.saturating_add(width);
    }
}

#[cfg(test)]
pub(crate) mod tests;
