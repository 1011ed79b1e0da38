// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Sparkline};

use super::Lines;
use super::theme::Theme;
use super::words::{bytes, cell, count, lasted, time, took};
use crate::state::{Link, State};
use crate::stats::Minute;

pub(super) fn draw(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let many = usize::from(area.width.min(240));
    let minutes = state.stats.last(many, state.clock.now_ms);
    let sum = Minute::sum(&minutes);
    let now = minutes.last().cloned().unwrap_or_default();
    let peak = minutes.iter().map(|minute| minute.decided).max().unwrap_or_default();
    let rows = [1, 3, 1, 2, 1, 2, 1].map(Constraint::Length).into_iter().chain([Constraint::Min(0)]);
    let areas = Layout::vertical(rows).split(area);
    let part = |at: usize| areas.get(at).copied().unwrap_or_default();
    let since = |since| format!(" · since {}", time(since, state.clock));
    let since = state.stats.since().map(since).unwrap_or_default();
    let head = |what: &str, rest: String| {
        Line::from(vec![Span::styled(format!("{what}  "), theme.bold()), Span::styled(rest, theme.dim())])
    };
    let text =
        format!("{} now · {} at most · {} in {many} min{since}", now.decided, peak, count(sum.decided));
    frame.render_widget(Paragraph::new(head("Decisions per minute", text)), part(0));
    spark(&minutes, |minute| minute.decided, theme.accent(), frame, part(1));
    let text = format!("{} now · {} in {many} min · {} asked", now.denied, sum.denied, sum.asked);
    frame.render_widget(Paragraph::new(head("Denials per minute", text)), part(2));
    spark(&minutes, |minute| minute.denied, theme.bad(), frame, part(3));
    let within = |percent| sum.within(percent).map_or_else(|| "–".to_owned(), took);
    let text =
        format!("p50 {} · p95 {} · p99 {} · below: p95 of each minute", within(50), within(95), within(99));
    frame.render_widget(Paragraph::new(head("Time to decide", text)), part(4));
    spark(&minutes, |minute| minute.within(95).unwrap_or_default(), theme.warn(), frame, part(5));
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(part(7));
    frame.render_widget(Paragraph::new(counts(&sum, theme, usize::from(left.width))), left);
    frame.render_widget(Paragraph::new(daemon(state, theme, usize::from(right.width))), right);
}

fn spark(
    minutes: &[Minute],
    value: impl Fn(&Minute) -> u64,
    style: Style,
    frame: &mut Frame<'_>,
    area: Rect,
) {
    let values: Vec<u64> = minutes.iter().map(value).collect();
    frame.render_widget(Sparkline::default().data(&values).style(style), area);
}

fn counts(sum: &Minute, theme: Theme, width: usize) -> Lines {
    let mut lines = vec![theme.head("Harnesses")];
    lines.extend(largest(sum.harnesses.iter(), 3, width));
    lines.push(theme.head("Rules that decided"));
    lines.extend(largest(sum.rules.iter(), 6, width));
    lines
}

fn largest<'a>(all: impl Iterator<Item = (&'a String, &'a u64)>, most: usize, width: usize) -> Lines {
    let mut all: Vec<_> = all.collect();
    all.sort_by(|(a, many), (b, more)| more.cmp(many).then(a.cmp(b)));
    let row = |(name, number): (&String, &u64)| {
        Line::from(format!("  {} {:>6}", cell(name, width.saturating_sub(11).min(40)), count(*number)))
    };
    all.into_iter().take(most).map(row).collect()
}

fn daemon(state: &State, theme: Theme, width: usize) -> Lines {
    let (health, ledger) = (&state.health, &state.ledger);
    let mut lines = vec![theme.head("Daemon")];
    let mode = if health.monitors { "monitor: rules only watch" } else { "enforce: rules hold" };
    let up = match &state.link {
        Link::Up => format!("{} · up {}", health.version, lasted(health.uptime_ms)),
        Link::Begins => "…".to_owned(),
        Link::Down(why, _) => format!("gone: {why}"),
    };
    for text in [mode.to_owned(), up, format!("generation {}", health.generation)] {
        lines.push(Line::from(format!("  {}", crate::plain::fit(&text, width.saturating_sub(3)))));
    }
    for trouble in health.troubles.iter().take(3) {
        let text = crate::plain::fit(trouble, width.saturating_sub(5));
        lines.push(Line::from(Span::styled(format!("  ⚠ {text}"), theme.warn())));
    }
    lines.push(theme.head("Ledger"));
    let signed = format!("{} leaves, {} signed", count(ledger.leaves), count(ledger.signed));
    let held = format!("{} sessions, {}", count(ledger.sessions), bytes(ledger.bytes));
    lines.extend([signed, held].map(|text| Line::from(format!("  {text}"))));
    for (verdict, number) in &ledger.verdicts {
        lines.push(Line::from(Span::styled(
            format!("  {} {:>9}", cell(verdict, 6), count(*number)),
            theme.dim(),
        )));
    }
    lines
}
