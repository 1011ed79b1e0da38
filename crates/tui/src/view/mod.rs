// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Draws the state. Designed for 80 columns and 24 rows; wider screens show more.

mod approval_page;
mod chart;
mod decision_page;
mod explanation_page;
mod format;
mod frame;
mod help;
mod lists;
mod screen_layout;
mod session_page;
mod statistics;
mod theme;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Clear, Paragraph};

use crate::message::ExplainSubject;
use crate::state::{OpenPage, PageContent, TuiState, ViewTab};
use screen_layout::screen_areas;
pub(crate) use screen_layout::{ScreenPart, part_at};
use theme::Theme;

/// Styled lines of a page.
type TextLines = Vec<Line<'static>>;

/// Minimum number of columns of a wide screen. Wide screens show more.
const WIDE_COLUMNS: usize = 110;

/// Draws the whole screen.
pub fn draw(state: &TuiState, frame: &mut Frame<'_>) {
    let theme = Theme { colors: state.colors };
    let areas = screen_areas(state, frame.area());
    frame.render_widget(Clear, frame.area());
    frame::draw_tabs(state, theme, frame, areas.tabs);
    if state.help {
        frame.render_widget(Paragraph::new(help::help_lines(theme)), areas.list);
    } else if let Some(page) = state.pages.last() {
        draw_page(page, state, theme, frame, areas.list);
    } else {
        if state.has_chart() {
            chart::draw_header_chart(state, theme, frame, areas.chart);
        }
        match state.tab {
            ViewTab::Live => lists::draw_live(state, theme, frame, areas.list),
            ViewTab::Sessions => lists::draw_sessions(state, theme, frame, areas.list),
            ViewTab::Approvals => lists::draw_approvals(state, theme, frame, areas.list),
            ViewTab::Statistics => statistics::draw_statistics(state, theme, frame, areas.list),
        }
        if let (Some(area), Some(page)) = (areas.preview, &state.preview.page) {
            let border = Block::new().borders(Borders::LEFT).border_style(theme.dim());
            let inner = border.inner(area);
            frame.render_widget(border, area);
            draw_page(page, state, theme, frame, inner);
        }
    }
    frame::draw_status_line(state, theme, frame, areas.status_line);
    frame::draw_key_hints(state, theme, frame, areas.keys);
}

/// Returns the maximum scroll position of the open page.
pub(crate) fn max_scroll(state: &TuiState) -> usize {
    state.pages.last().map_or(0, |page| max_page_scroll(page, state, state.size.0))
}

/// Returns the maximum scroll position of the preview.
pub(crate) fn max_preview_scroll(state: &TuiState) -> usize {
    let screen = Rect::new(0, 0, state.size.0, state.size.1);
    let width = screen_areas(state, screen).preview.map_or(0, |area| area.width.saturating_sub(1));
    state.preview.page.as_ref().map_or(0, |page| max_page_scroll(page, state, width))
}

fn max_page_scroll(page: &OpenPage, state: &TuiState, width: u16) -> usize {
    let columns = page_columns(page, state, Theme { colors: false }, usize::from(width));
    let longest = columns.iter().map(|(_, lines)| lines.len()).max().unwrap_or_default();
    longest.saturating_sub(state.list_rows())
}

fn page_title(open: &PageContent) -> String {
    match open {
        PageContent::Decision { seq, .. } => format!("Decision · record {seq}"),
        PageContent::Session { key, .. } => format!("Session · {key}"),
        PageContent::Approval { card, waits: true } => format!("Approval · {}", card.id),
        PageContent::Approval { card, waits: false } => format!("Approval closed · {}", card.id),
        PageContent::Explanation { subject: ExplainSubject::Record(seq, _), .. } => {
            format!("ExplanationDetail · record {seq}")
        }
        PageContent::Explanation { subject: ExplainSubject::Command(command), .. } => {
            format!("ExplanationDetail · {}", crate::plain::single_line(command))
        }
        PageContent::Draft { seq, .. } => format!("Block calls like record {seq}"),
    }
}

/// Renders the open page as one or two columns of text.
fn page_columns(page: &OpenPage, state: &TuiState, theme: Theme, width: usize) -> Vec<(usize, TextLines)> {
    match &page.open {
        PageContent::Decision { found, proved, .. } => {
            vec![(width, decision_page::decision_lines(found.as_deref(), proved, theme, state.clock, width))]
        }
        PageContent::Session { found, steps, .. } => {
            session_page::session_columns(found.as_deref(), steps, theme, state.clock, width)
        }
        PageContent::Explanation { found, .. } => {
            vec![(width, explanation_page::explanation_lines(found.as_deref(), theme, width))]
        }
        PageContent::Draft { found, .. } => {
            vec![(width, explanation_page::draft_lines(found.as_deref(), theme, width))]
        }
        PageContent::Approval { card, waits } => {
            vec![(width, approval_page::approval_lines(card, *waits, theme, state.clock, width))]
        }
    }
}

fn draw_page(page: &OpenPage, state: &TuiState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let [head, area] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    frame::draw_title(page_title(&page.open), theme, frame, head);
    let mut left = area.x;
    let columns = page_columns(page, state, theme, usize::from(area.width));
    let longest = columns.iter().map(|(_, lines)| lines.len()).max().unwrap_or_default();
    let above = page.scroll.min(longest.saturating_sub(usize::from(area.height)));
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
