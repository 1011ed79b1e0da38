// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::format::{clock_time, date_time, format_count, format_duration, pad_cell, wrapped_lines};
use super::lists::format_cost;
use super::theme::Theme;
use super::{TextLines, WIDE_COLUMNS};
use crate::message::WallClock;
use crate::parse::{SessionDetail, SessionRow, TimelineRow, TodoMark};
use crate::plain;

/// Maximum number of snapshots on the page of a session.
const MAX_SNAPSHOT_LINES: usize = 10;

/// Renders the session as one column; on wide screens the timeline is a second column.
pub(super) fn session_columns(
    found: Option<&SessionDetail>,
    steps: &[TimelineRow],
    theme: Theme,
    clock: WallClock,
    width: usize,
) -> Vec<(usize, TextLines)> {
    let Some(found) = found else {
        return vec![(width, vec![Line::from(Span::styled("  …", theme.dim()))])];
    };
    if width >= WIDE_COLUMNS {
        let left = width / 2;
        let right = width - left;
        return vec![
            (left, session_facts(found, theme, clock, left)),
            (right, timeline_lines(steps, theme, clock, right)),
        ];
    }
    let mut lines = session_facts(found, theme, clock, width);
    lines.extend(timeline_lines(steps, theme, clock, width));
    vec![(width, lines)]
}

fn session_facts(found: &SessionDetail, theme: Theme, clock: WallClock, width: usize) -> TextLines {
    let session = &found.session;
    let mut lines = vec![Line::from(vec![
        Span::styled(
            session.state.clone(),
            if session.state == "active" { theme.good() } else { theme.dim() },
        ),
        Span::raw(format!("  {}", session.model)),
        Span::styled(
            format!(
                "  started {}, {}",
                date_time(session.started, clock),
                format_duration(session.last.saturating_sub(session.started))
            ),
            theme.dim(),
        ),
    ])];
    lines.push(Line::from(Span::styled(
        format!("  {}", plain::truncate_start(&session.cwd, width.saturating_sub(3))),
        theme.dim(),
    )));
    if !session.title.is_empty() {
        lines.extend(wrapped_lines(&session.title, theme.bold(), width));
    }
    let counts = format!(
        "{} events · {} prompts · {} tool calls · {} denied · {} subagents",
        session.events, session.prompts, session.calls, session.denied, session.subagents
    );
    lines.extend(wrapped_lines(&counts, Style::new(), width));
    lines.extend(wrapped_lines(&usage_text(session), Style::new(), width));
    if !found.labels.is_empty() {
        lines.extend(wrapped_lines(&format!("labels: {}", found.labels.join(", ")), theme.warn(), width));
    }
    let (done, all) = session.todos;
    lines.push(theme.heading(format!("Todos {done}/{all}")));
    for (mark, text) in &found.todos {
        let (sign, style) = match mark {
            TodoMark::Done => ("✓", theme.good()),
            TodoMark::Active => ("▸", theme.warn()),
            TodoMark::Open => ("○", theme.dim()),
        };
        let text = plain::truncate(text, width.saturating_sub(5));
        lines.push(Line::from(vec![Span::styled(format!("  {sign} "), style), Span::raw(text)]));
    }
    lines.push(theme.heading(format!("Files changed {}", found.files.len())));
    for file in &found.files {
        let (added, removed) = file.lines;
        let changed = format!("+{added} −{removed}");
        let times = if file.times > 1 { format!(" {}×", file.times) } else { String::new() };
        let room = width.saturating_sub(9 + changed.chars().count() + times.chars().count());
        lines.push(Line::from(vec![
            Span::styled(format!("  {} ", file.badge), theme.accent()),
            Span::raw(plain::truncate_start(&file.path, room)),
            Span::styled(format!(" {changed}{times}"), theme.dim()),
        ]));
    }
    lines.push(theme.heading("Tools"));
    for tool in &found.tools {
        let mut spans = vec![Span::raw(format!("  {} {:>5}", pad_cell(&tool.name, 28), tool.calls))];
        for (number, what, style) in [
            (tool.asked, "asked", theme.warn()),
            (tool.failed, "failed", theme.warn()),
            (tool.denied, "denied", theme.bad()),
        ] {
            if number > 0 {
                spans.push(Span::styled(format!("  {number} {what}"), style));
            }
        }
        lines.push(Line::from(spans));
    }
    push_denials(found, theme, clock, width, &mut lines);
    if !found.snapshots.is_empty() {
        lines.push(theme.heading(format!("Can be undone {}", found.snapshots.len())));
        for (reason, id) in found.snapshots.iter().take(MAX_SNAPSHOT_LINES) {
            let command = format!("tenterhook undo {id}");
            let room = width.saturating_sub(5 + command.chars().count());
            lines.push(Line::from(vec![
                Span::raw(format!("  {}", plain::truncate(reason, room.max(10)))),
                Span::styled(format!("  {command}"), theme.dim()),
            ]));
        }
    }
    if !found.agents.is_empty() {
        lines.push(theme.heading("Subagents"));
        lines.extend(found.agents.iter().flat_map(|agent| wrapped_lines(agent, Style::new(), width)));
    }
    lines
}

fn push_denials(found: &SessionDetail, theme: Theme, clock: WallClock, width: usize, lines: &mut TextLines) {
    if found.denials.is_empty() {
        return;
    }
    lines.push(theme.heading(format!("Denied {}", found.denials.len())));
    for denial in found.denials.iter().rev() {
        let room = width.saturating_sub(14 + denial.rule.chars().count());
        lines.push(Line::from(vec![
            Span::styled(format!("  {} ", clock_time(denial.ts, clock)), theme.dim()),
            Span::raw(plain::truncate(&denial.what, room.max(10))),
            Span::styled(format!("  {} ", denial.rule), theme.bad()),
            Span::styled(format!("#{}", denial.seq), theme.dim()),
        ]));
    }
}

/// Formats cost and tokens as the harness reported them. Nothing is estimated.
fn usage_text(session: &SessionRow) -> String {
    let [input, output, context, limit] = session.tokens;
    let tokens =
        |what: &str, number: Option<u64>| number.map(|number| format!("{} {what}", format_count(number)));
    let context = match (context, limit) {
        (Some(context), Some(limit)) if limit > 0 => Some(format!(
            "context {} of {} ({} %)",
            format_count(context),
            format_count(limit),
            context * 100 / limit
        )),
        (context, _) => context.map(|context| format!("context {}", format_count(context))),
    };
    let unpriced = (session.unpriced > 0).then(|| format!("{} replies without a price", session.unpriced));
    let cost = session
        .cost
        .map_or_else(|| "cost unknown".to_owned(), |dollars| format!("cost {}", format_cost(Some(dollars))));
    let parts = [Some(cost), unpriced, tokens("tokens in", input), tokens("out", output), context];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn timeline_lines(steps: &[TimelineRow], theme: Theme, clock: WallClock, width: usize) -> TextLines {
    let mut lines = vec![theme.heading("Timeline · latest first")];
    let room = width.saturating_sub(35);
    for step in steps {
        let name = if step.tool.is_empty() { &step.event } else { &step.tool };
        let what =
            if step.rule.is_empty() { step.what.clone() } else { format!("{} [{}]", step.what, step.rule) };
        lines.push(Line::from(vec![
            Span::styled(format!("  {} ", clock_time(step.ts, clock)), theme.dim()),
            Span::styled(pad_cell(step.verdict.label(), 9), theme.verdict(step.verdict)),
            Span::styled(pad_cell(name, 13) + " ", theme.bold()),
            Span::raw(plain::truncate(&what, room)),
        ]));
    }
    lines
}
