// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Draws the three lists: live decisions, sessions and approvals.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::format::{clock_time, format_duration, format_micros, pad_cell};
use super::theme::Theme;
use super::{TextLines, WIDE_COLUMNS};
use crate::plain;
use crate::state::{DaemonLink, TuiState};

pub(super) fn draw_live(state: &TuiState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let width = usize::from(area.width);
    let (rule, duration) = if width >= WIDE_COLUMNS { (24, 9) } else { (0, 0) };
    let gist = width.saturating_sub(44 + rule + duration);
    let mut head =
        format!("{:<9}{:<9}{:<12}{:<14}{}", "time", "", "harness", "tool", pad_cell("details", gist));
    if width >= WIDE_COLUMNS {
        head.push_str(&format!("{:<24}{:>8}", " rule", "took"));
    }
    let (rows, chosen) = state.feed.window(state.list_rows());
    let rows = rows.into_iter().map(|line| {
        let tool = if line.tool.is_empty() { &line.event } else { &line.tool };
        let mut spans = vec![
            Span::styled(pad_cell(&clock_time(line.ts, state.clock), 9), theme.dim()),
            Span::styled(pad_cell(line.verdict.label(), 9), theme.verdict(line.verdict)),
            Span::raw(pad_cell(&line.harness, 11) + " "),
            Span::styled(pad_cell(tool, 13) + " ", theme.bold()),
            Span::raw(pad_cell(&line.gist, gist)),
        ];
        if width >= WIDE_COLUMNS {
            spans.push(Span::styled(format!(" {} ", pad_cell(&line.rule, 22)), theme.dim()));
            spans.push(Span::styled(format!("{:>8}", format_micros(line.took_us)), theme.dim()));
        }
        Line::from(spans)
    });
    let empty = match (&state.link, state.feed.filter.is_empty()) {
        (_, false) => "no matches for this filter",
        (DaemonLink::Up, _) => "no decisions yet; they appear here as agents work",
        _ => "waiting for the daemon",
    };
    draw_list(head, rows.collect(), chosen, empty, theme, frame, area);
}

pub(super) fn draw_sessions(state: &TuiState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let width = usize::from(area.width);
    let model = if width >= WIDE_COLUMNS { 22 } else { 0 };
    let title = width.saturating_sub(55 + model);
    let mut head = format!("{:<9}{:<8}{:<12}", "last", "state", "harness");
    if model > 0 {
        head.push_str(&pad_cell("model", model));
    }
    head.push_str(&format!(
        "{:>5} {:>5} {:>6} {:>6} {}",
        "todos",
        "files",
        "denied",
        "cost",
        pad_cell("title", title)
    ));
    let (rows, chosen) = state.sessions.window(state.list_rows());
    let rows = rows.into_iter().map(|session| {
        let style = match session.state.as_str() {
            "active" => theme.good(),
            "waiting" => theme.warn(),
            _ => theme.dim(),
        };
        let (done, all) = session.todos;
        let todos = if all == 0 { "–".to_owned() } else { format!("{done}/{all}") };
        let what = if session.title.is_empty() {
            plain::truncate_start(&session.cwd, title)
        } else {
            session.title.clone()
        };
        let mut spans = vec![
            Span::styled(pad_cell(&clock_time(session.last, state.clock), 9), theme.dim()),
            Span::styled(pad_cell(&session.state, 8), style),
            Span::raw(pad_cell(&session.harness, 11) + " "),
        ];
        if model > 0 {
            spans.push(Span::styled(pad_cell(&session.model, model - 1) + " ", theme.dim()));
        }
        let denied = if session.denied > 0 { theme.bad() } else { theme.dim() };
        spans.extend([
            Span::raw(format!("{todos:>5} {:>5} ", session.changed)),
            Span::styled(format!("{:>6} ", session.denied), denied),
            Span::raw(format!("{:>6} ", format_cost(session.cost))),
            Span::raw(pad_cell(&what, title)),
        ]);
        Line::from(spans)
    });
    let empty =
        if state.sessions.filter.is_empty() { "no sessions yet" } else { "no matches for this filter" };
    draw_list(head, rows.collect(), chosen, empty, theme, frame, area);
}

pub(super) fn draw_approvals(state: &TuiState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let wants = usize::from(area.width).saturating_sub(33);
    let head = format!("{:<8}{:<12}{:<13}{}", "left", "harness", "tool", "call");
    let (rows, chosen) = state.approvals.window(state.list_rows());
    let rows = rows.into_iter().map(|card| {
        let left = card.until.saturating_sub(state.clock.now_ms);
        let style = if left < 10_000 { theme.bad() } else { theme.warn() };
        Line::from(vec![
            Span::styled(pad_cell(&format_duration(left), 8), style),
            Span::raw(pad_cell(&card.harness, 11) + " "),
            Span::styled(pad_cell(&card.tool, 12) + " ", theme.bold()),
            Span::raw(pad_cell(&card.wants, wants)),
        ])
    });
    let empty = "no pending approvals";
    draw_list(head, rows.collect(), chosen, empty, theme, frame, area);
}

/// Formats a cost in US dollars; `–` if the cost is unknown.
pub(super) fn format_cost(dollars: Option<f64>) -> String {
    dollars.map_or_else(|| "–".to_owned(), |dollars| format!("${dollars:.2}"))
}

fn draw_list(
    head: String,
    rows: TextLines,
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
