// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Draws the three lists: live decisions, sessions and approvals.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::format::{clock_time, format_duration, format_run_time, pad_cell, short_time};
use super::theme::Theme;
use super::{TextLines, WIDE_COLUMNS};
use crate::parse::CallRow;
use crate::plain;
use crate::state::{DaemonLink, TuiState};

/// Widths of the columns of the live view.
struct CallColumns {
    time: usize,
    harness: usize,
    tool: usize,
    call: usize,
    by: usize,
}

impl CallColumns {
    const DECISION: usize = 9;
    const RESULT: usize = 14;

    fn of_width(width: usize) -> Self {
        let (time, harness, tool, by) = match width {
            ..78 => (6, 0, 8, 14),
            78..90 => (9, 0, 10, 17),
            90..WIDE_COLUMNS => (9, 12, 13, 20),
            _ => (9, 12, 14, 26),
        };
        let others = time + Self::DECISION + harness + tool + Self::RESULT + by;
        Self { time, harness, tool, by, call: width.saturating_sub(others) }
    }

    /// Formats a time; narrow columns have no seconds.
    fn time_text(&self, ts: u64, state: &TuiState) -> String {
        let text = if self.time > 6 { clock_time(ts, state.clock) } else { short_time(ts, state.clock) };
        pad_cell(&text, self.time)
    }
}

pub(super) fn draw_live(state: &TuiState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let columns = CallColumns::of_width(usize::from(area.width));
    let mut head = String::new();
    for (name, width) in [
        ("time", columns.time),
        ("decision", CallColumns::DECISION),
        ("harness", columns.harness),
        ("tool", columns.tool),
        ("call", columns.call),
        ("result", CallColumns::RESULT),
        ("by", columns.by),
    ] {
        if width > 0 {
            head.push_str(&pad_cell(name, width));
        }
    }
    let calls = state.calls.shown();
    let (rows, chosen) = calls.window(state.list_rows());
    let rows = rows.into_iter().map(|row| call_line(row, &columns, state, theme)).collect();
    let empty = match (&state.link, calls.filter.is_empty(), state.calls.has_calls()) {
        (_, false, _) => "no matches for this filter",
        (DaemonLink::Up, _, true) => "nothing was asked, denied, rewritten or failed; press n for all calls",
        (DaemonLink::Up, _, false) => "no decisions yet; they appear here as agents work",
        _ => "waiting for the daemon",
    };
    draw_list(head, rows, chosen, empty, theme, frame, area);
}

fn call_line(row: &CallRow, columns: &CallColumns, state: &TuiState, theme: Theme) -> Line<'static> {
    let time = Span::styled(columns.time_text(row.ts, state), theme.dim());
    if let Some(folded) = &row.folded {
        return Line::from(vec![time, Span::styled(format!("· {}", folded.text()), theme.dim())]);
    }
    let decision = match row.decision_label() {
        "rewritten" => theme.accent(),
        _ => theme.verdict(row.verdict),
    };
    let tool = if row.tool.is_empty() { &row.event } else { &row.tool };
    let mut spans = vec![time, Span::styled(pad_cell(row.decision_label(), CallColumns::DECISION), decision)];
    if columns.harness > 0 {
        spans.push(Span::raw(pad_cell(&row.harness, columns.harness - 1) + " "));
    }
    let (result, style) = match row.result {
        None => (String::new(), theme.dim()),
        Some(result) => {
            let ran = result.ran_ms.map(|ms| format!(" {}", format_run_time(ms))).unwrap_or_default();
            if result.failed {
                (format!("failed{ran}"), theme.bad())
            } else {
                (format!("ok{ran}"), theme.good())
            }
        }
    };
    spans.extend([
        Span::styled(pad_cell(tool, columns.tool.saturating_sub(1)) + " ", theme.bold()),
        Span::raw(pad_cell(&row.gist, columns.call.saturating_sub(1)) + " "),
        Span::styled(pad_cell(&result, CallColumns::RESULT - 1) + " ", style),
        Span::styled(pad_cell(&row.by, columns.by), theme.accent()),
    ]);
    Line::from(spans)
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
