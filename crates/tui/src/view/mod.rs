// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How it looks. Made for 80 columns and 24 rows; what is wider shows more.

mod approval;
mod decision;
mod frame;
mod help;
mod lists;
mod session;
mod statistics;
mod theme;
mod words;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Paragraph};

use crate::state::{Open, State, Tab};
use theme::Theme;

/// Text that fills a page.
type Lines = Vec<Line<'static>>;

/// Paints all of it.
pub fn draw(state: &State, frame: &mut Frame<'_>) {
    let theme = Theme { colors: state.colors };
    let rows = [Constraint::Length(1), Constraint::Min(0), Constraint::Length(1), Constraint::Length(1)];
    let [tabs, body, below, keys] = Layout::vertical(rows).areas(frame.area());
    frame.render_widget(Clear, frame.area());
    frame::tabs(state, theme, frame, tabs);
    if state.help {
        frame.render_widget(Paragraph::new(help::lines(theme)), body);
    } else if let Some(page) = state.pages.last() {
        let [head, text] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(body);
        frame::title(title(&page.open), theme, frame, head);
        draw_page(state, theme, frame, text);
    } else {
        match state.tab {
            Tab::Live => lists::live(state, theme, frame, body),
            Tab::Sessions => lists::sessions(state, theme, frame, body),
            Tab::Approvals => lists::approvals(state, theme, frame, body),
            Tab::Statistics => statistics::draw(state, theme, frame, body),
        }
    }
    frame::below(state, theme, frame, below);
    frame::keys(state, theme, frame, keys);
}

/// By how many lines what is open can be scrolled.
pub(crate) fn scrolls(state: &State) -> usize {
    let theme = Theme { colors: false };
    let columns = columns(state, theme, usize::from(state.size.0));
    let longest = columns.iter().map(|(_, lines)| lines.len()).max().unwrap_or_default();
    longest.saturating_sub(state.rows())
}

fn title(open: &Open) -> String {
    match open {
        Open::Decision { seq, .. } => format!("Decision · leaf {seq}"),
        Open::Session { key, .. } => format!("Session · {key}"),
        Open::Approval { card, waits: true } => format!("A call waits for you · {}", card.id),
        Open::Approval { card, waits: false } => format!("This call waits no more · {}", card.id),
    }
}

/// What is open, as one column of text or two.
fn columns(state: &State, theme: Theme, width: usize) -> Vec<(usize, Lines)> {
    let Some(page) = state.pages.last() else { return Vec::new() };
    match &page.open {
        Open::Decision { found, proved, .. } => {
            vec![(width, decision::lines(found.as_deref(), proved, theme, state.clock, width))]
        }
        Open::Session { found, steps, .. } => {
            session::columns(found.as_deref(), steps, theme, state.clock, width)
        }
        Open::Approval { card, waits } => {
            vec![(width, approval::lines(card, *waits, theme, state.clock, width))]
        }
    }
}

fn draw_page(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let above = state.pages.last().map_or(0, |page| page.scroll);
    let mut left = area.x;
    let columns = columns(state, theme, usize::from(area.width));
    let longest = columns.iter().map(|(_, lines)| lines.len()).max().unwrap_or_default();
    let above = above.min(longest.saturating_sub(usize::from(area.height)));
    for (width, lines) in columns {
        let width = u16::try_from(width).unwrap_or(area.width);
        let column = Rect { x: left, width: width.min(area.right().saturating_sub(left)), ..area };
        let shown: Lines = lines.into_iter().skip(above).take(usize::from(area.height)).collect();
        frame.render_widget(Paragraph::new(shown), column);
        left = left.saturating_add(width);
    }
}

#[cfg(test)]
pub(crate) mod tests;
