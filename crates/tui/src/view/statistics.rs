// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Sparkline};

use super::TextLines;
use super::chart::fit_columns;
use super::format::{format_bytes, format_count, format_duration, format_micros, pad_cell, short_time};
use super::theme::Theme;
use crate::decision_stats::MinuteStats;
use tenterhook_event::Decision;

use crate::state::{DaemonLink, TuiState};

pub(super) fn draw_statistics(state: &TuiState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let now_ms = state.clock.now_ms;
    let many = state.stats.shown_minutes(now_ms);
    let minutes = state.stats.last_minutes(many, now_ms);
    let columns = fit_columns(&minutes, usize::from(area.width));
    let sum = MinuteStats::sum(&minutes);
    let now = minutes.last().cloned().unwrap_or_default();
    let peak = minutes.iter().map(|minute| minute.decided).max().unwrap_or_default();
    let rows = [1, 3, 1, 1, 2, 1, 2, 1].map(Constraint::Length).into_iter().chain([Constraint::Min(0)]);
    let areas = Layout::vertical(rows).split(area);
    let part = |at: usize| areas.get(at).copied().unwrap_or_default();
    let head = |what: &str, rest: String| {
        Line::from(vec![Span::styled(format!("{what}  "), theme.bold()), Span::styled(rest, theme.dim())])
    };
    let text = format!("{} now · {} max · {} in {many} min", now.decided, peak, format_count(sum.decided));
    frame.render_widget(Paragraph::new(head("Decisions per minute", text)), part(0));
    draw_sparkline(&columns, |minute| minute.decided, theme.accent(), frame, part(1));
    draw_time_axis(state, many, theme, frame, part(2));
    let text = format!("{} now · {} in {many} min · {} asked", now.denied, sum.denied, sum.asked);
    frame.render_widget(Paragraph::new(head("Denials per minute", text)), part(3));
    draw_sparkline(&columns, |minute| minute.denied, theme.bad(), frame, part(4));
    let percentile = |percent| sum.percentile_us(percent).map_or_else(|| "–".to_owned(), format_micros);
    let text = format!(
        "p50 {} · p95 {} · p99 {} · chart: p95 per minute",
        percentile(50),
        percentile(95),
        percentile(99)
    );
    frame.render_widget(Paragraph::new(head("Decision time", text)), part(5));
    draw_sparkline(
        &columns,
        |minute| minute.percentile_us(95).unwrap_or_default(),
        theme.warn(),
        frame,
        part(6),
    );
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(part(8));
    frame.render_widget(Paragraph::new(count_lines(&sum, theme, usize::from(left.width))), left);
    frame.render_widget(Paragraph::new(daemon_lines(state, theme, usize::from(right.width))), right);
}

/// Draws the times at which the charts begin and end.
fn draw_time_axis(state: &TuiState, minutes: usize, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let now_ms = state.clock.now_ms;
    let from = short_time(now_ms.saturating_sub(minutes as u64 * 60_000), state.clock);
    let until = short_time(now_ms, state.clock);
    let gap = usize::from(area.width).saturating_sub(from.len() + until.len());
    let text = format!("{from}{}{until}", " ".repeat(gap));
    frame.render_widget(Paragraph::new(Line::from(Span::styled(text, theme.dim()))), area);
}

fn draw_sparkline(
    minutes: &[MinuteStats],
    value: impl Fn(&MinuteStats) -> u64,
    style: Style,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let values: Vec<u64> = minutes.iter().map(value).collect();
    frame.render_widget(Sparkline::default().data(&values).style(style), area);
}

fn count_lines(sum: &MinuteStats, theme: Theme, width: usize) -> TextLines {
    let mut lines = vec![theme.heading("Harnesses")];
    lines.extend(largest_counts(sum.harnesses.iter(), 3, width));
    lines.push(theme.heading("Deciding rules"));
    lines.extend(largest_counts(sum.rules.iter(), 6, width));
    lines
}

fn largest_counts<'a>(
    all: impl Iterator<Item = (&'a String, &'a u64)>,
    limit: usize,
    width: usize,
) -> TextLines {
    let mut all: Vec<_> = all.collect();
    all.sort_by(|(a, many), (b, more)| more.cmp(many).then(a.cmp(b)));
    let row = |(name, number): (&String, &u64)| {
        Line::from(format!(
            "  {} {:>6}",
            pad_cell(name, width.saturating_sub(11).min(40)),
            format_count(*number)
        ))
    };
    all.into_iter().take(limit).map(row).collect()
}

fn daemon_lines(state: &TuiState, theme: Theme, width: usize) -> TextLines {
    let (health, ledger) = (&state.health, &state.ledger);
    let mut lines = vec![theme.heading("Daemon")];
    let mode = if health.is_monitoring { "monitor mode" } else { "enforce mode" };
    let up = match &state.link {
        DaemonLink::Up => format!("{} · up {}", health.version, format_duration(health.uptime_ms)),
        DaemonLink::Connecting => "…".to_owned(),
        DaemonLink::Down(why, _) => format!("not running: {why}"),
    };
    let level = if health.level.is_empty() { String::new() } else { format!(", {} rules", health.level) };
    for text in [format!("{mode}{level}"), up, format!("generation {}", health.generation)] {
        lines.push(Line::from(format!("  {}", crate::plain::truncate(&text, width.saturating_sub(3)))));
    }
    for trouble in health.problems.iter().take(3) {
        let text = crate::plain::truncate(trouble, width.saturating_sub(5));
        lines.push(Line::from(Span::styled(format!("  ⚠ {text}"), theme.warn())));
    }
    lines.push(theme.heading("Ledger"));
    let signed = format!("{} records, {} signed", format_count(ledger.records), format_count(ledger.signed));
    let held = format!("{} sessions, {}", format_count(ledger.sessions), format_bytes(ledger.bytes));
    lines.extend([signed, held].map(|text| Line::from(format!("  {text}"))));
    for (verdict, number) in &ledger.verdicts {
        lines.push(Line::from(Span::styled(
            format!("  {} {:>9}", pad_cell(Decision::label_of(verdict), 9), format_count(*number)),
            theme.dim(),
        )));
    }
    lines
}
