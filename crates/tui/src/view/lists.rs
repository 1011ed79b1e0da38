// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The three lists: what happens, sessions, calls that wait.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::Lines;
use super::theme::Theme;
use super::words::{cell, lasted, time, took};
use crate::plain;
use crate::state::{Link, State};

/// From here on there is room for more columns.
const WIDE: usize = 110;

pub(super) fn live(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let width = usize::from(area.width);
    let (rule, took_) = if width >= WIDE { (24, 9) } else { (0, 0) };
    let gist = width.saturating_sub(41 + rule + took_);
    let mut head = format!("{:<9}{:<6}{:<12}{:<14}{}", "time", "", "harness", "tool", cell("what", gist));
    if width >= WIDE {
        head.push_str(&format!("{:<24}{:>8}", " rule", "took"));
    }
    let (rows, chosen) = state.feed.window(state.rows());
    let rows = rows.into_iter().map(|line| {
        let tool = if line.tool.is_empty() { &line.event } else { &line.tool };
        let mut spans = vec![
            Span::styled(cell(&time(line.ts, state.clock), 9), theme.dim()),
            Span::styled(cell(line.verdict.word(), 6), theme.verdict(line.verdict)),
            Span::raw(cell(&line.harness, 11) + " "),
            Span::styled(cell(tool, 13) + " ", theme.bold()),
            Span::raw(cell(&line.gist, gist)),
        ];
        if width >= WIDE {
            spans.push(Span::styled(format!(" {} ", cell(&line.rule, 22)), theme.dim()));
            spans.push(Span::styled(format!("{:>8}", took(line.took_us)), theme.dim()));
        }
        Line::from(spans)
    });
    let empty = match (&state.link, state.feed.filter.is_empty()) {
        (_, false) => "nothing fits the filter",
        (Link::Up, _) => "nothing was decided yet; what agents do appears here as it happens",
        _ => "waiting for the daemon",
    };
    list(head, rows.collect(), chosen, empty, theme, frame, area);
}

pub(super) fn sessions(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let width = usize::from(area.width);
    let model = if width >= WIDE { 22 } else { 0 };
    let title = width.saturating_sub(53 + model);
    let mut head = format!("{:<9}{:<8}{:<12}", "last", "state", "harness");
    if model > 0 {
        head.push_str(&cell("model", model));
    }
    head.push_str(&format!(
        "{:>5} {:>5} {:>4} {:>6} {}",
        "to-do",
        "files",
        "deny",
        "cost",
        cell("what", title)
    ));
    let (rows, chosen) = state.sessions.window(state.rows());
    let rows = rows.into_iter().map(|session| {
        let style = match session.state.as_str() {
            "active" => theme.good(),
            "waiting" => theme.warn(),
            _ => theme.dim(),
        };
        let (done, all) = session.todos;
        let todos = if all == 0 { "–".to_owned() } else { format!("{done}/{all}") };
        let what = if session.title.is_empty() {
            plain::fit_end(&session.cwd, title)
        } else {
            session.title.clone()
        };
        let mut spans = vec![
            Span::styled(cell(&time(session.last, state.clock), 9), theme.dim()),
            Span::styled(cell(&session.state, 8), style),
            Span::raw(cell(&session.harness, 11) + " "),
        ];
        if model > 0 {
            spans.push(Span::styled(cell(&session.model, model - 1) + " ", theme.dim()));
        }
        let denied = if session.denied > 0 { theme.bad() } else { theme.dim() };
        spans.extend([
            Span::raw(format!("{todos:>5} {:>5} ", session.changed)),
            Span::styled(format!("{:>4} ", session.denied), denied),
            Span::raw(format!("{:>6} ", cost(session.cost))),
            Span::raw(cell(&what, title)),
        ]);
        Line::from(spans)
    });
    let empty = if state.sessions.filter.is_empty() { "no session yet" } else { "nothing fits the filter" };
    list(head, rows.collect(), chosen, empty, theme, frame, area);
}

pub(super) fn approvals(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let wants = usize::from(area.width).saturating_sub(33);
    let head = format!("{:<8}{:<12}{:<13}{}", "left", "harness", "tool", "what it wants");
    let (rows, chosen) = state.approvals.window(state.rows());
    let rows = rows.into_iter().map(|card| {
        let left = card.until.saturating_sub(state.clock.now_ms);
        let style = if left < 10_000 { theme.bad() } else { theme.warn() };
        Line::from(vec![
            Span::styled(cell(&lasted(left), 8), style),
            Span::raw(cell(&card.harness, 11) + " "),
            Span::styled(cell(&card.tool, 12) + " ", theme.bold()),
            Span::raw(cell(&card.wants, wants)),
        ])
    });
    let empty = "nothing waits for an approval";
    list(head, rows.collect(), chosen, empty, theme, frame, area);
}

/// Dollars; what has no price has none.
pub(super) fn cost(dollars: Option<f64>) -> String {
    dollars.map_or_else(|| "–".to_owned(), |dollars| format!("${dollars:.2}"))
}

fn list(
    head: String,
    rows: Lines,
    chosen: usize,
    empty: &'static str,
    theme: Theme,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let mut lines = vec![Line::from(Span::styled(head, theme.dim()))];
    if rows.is_empty() {
        lines.push(Line::from(""));
        lines.push(Line::from(Span::styled(format!("  {empty}"), theme.dim())));
    }
    for (at, row) in rows.into_iter().enumerate() {
        let style = if at == chosen { theme.chosen() } else { Style::new() };
        lines.push(row.style(style));
    }
    frame.render_widget(Paragraph::new(lines), area);
}
