// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Lines;
use super::lists::cost;
use super::theme::Theme;
use super::words::{cell, count, day_and_time, lasted, paragraph, time};
use crate::message::Clock;
use crate::plain;
use crate::read::{Detail, Mark, Session, Step};

/// From here on the timeline has a column of its own.
const WIDE: usize = 110;

/// One column, or two where there is room.
pub(super) fn columns(
    found: Option<&Detail>,
    steps: &[Step],
    theme: Theme,
    clock: Clock,
    width: usize,
) -> Vec<(usize, Lines)> {
    let Some(found) = found else {
        return vec![(width, vec![Line::from(Span::styled("  …", theme.dim()))])];
    };
    if width >= WIDE {
        let left = width / 2;
        let right = width - left;
        return vec![(left, facts(found, theme, clock, left)), (right, timeline(steps, theme, clock, right))];
    }
    let mut lines = facts(found, theme, clock, width);
    lines.extend(timeline(steps, theme, clock, width));
    vec![(width, lines)]
}

fn facts(found: &Detail, theme: Theme, clock: Clock, width: usize) -> Lines {
    let session = &found.session;
    let mut lines = vec![Line::from(vec![
        Span::styled(
            session.state.clone(),
            if session.state == "active" { theme.good() } else { theme.dim() },
        ),
        Span::raw(format!("  {}", session.model)),
        Span::styled(
            format!(
                "  since {}, {}",
                day_and_time(session.started, clock),
                lasted(session.last.saturating_sub(session.started))
            ),
            theme.dim(),
        ),
    ])];
    lines.push(Line::from(Span::styled(
        format!("  {}", plain::fit_end(&session.cwd, width.saturating_sub(3))),
        theme.dim(),
    )));
    if !session.title.is_empty() {
        lines.extend(paragraph(&session.title, theme.bold(), width));
    }
    let counts = format!(
        "{} events · {} prompts · {} tool calls · {} denied · {} subagents",
        session.events, session.prompts, session.calls, session.denied, session.subagents
    );
    lines.extend(paragraph(&counts, Style::new(), width));
    lines.extend(paragraph(&usage(session), Style::new(), width));
    if !found.labels.is_empty() {
        lines.extend(paragraph(&format!("labels: {}", found.labels.join(", ")), theme.warn(), width));
    }
    let (done, all) = session.todos;
    lines.push(theme.head(format!("To-dos {done}/{all}")));
    for (mark, text) in &found.todos {
        let (sign, style) = match mark {
            Mark::Done => ("✓", theme.good()),
            Mark::Active => ("▸", theme.warn()),
            Mark::Open => ("○", theme.dim()),
        };
        let text = plain::fit(text, width.saturating_sub(5));
        lines.push(Line::from(vec![Span::styled(format!("  {sign} "), style), Span::raw(text)]));
    }
    lines.push(theme.head(format!("Files changed {}", found.files.len())));
    for file in &found.files {
        let (added, removed) = file.lines;
        let changed = format!("+{added} −{removed}");
        let times = if file.times > 1 { format!(" {}×", file.times) } else { String::new() };
        let room = width.saturating_sub(9 + changed.chars().count() + times.chars().count());
        lines.push(Line::from(vec![
            Span::styled(format!("  {} ", file.badge), theme.accent()),
            Span::raw(plain::fit_end(&file.path, room)),
            Span::styled(format!(" {changed}{times}"), theme.dim()),
        ]));
    }
    lines.push(theme.head("Tools"));
    for tool in &found.tools {
        let mut spans = vec![Span::raw(format!("  {} {:>5}", cell(&tool.name, 28), tool.calls))];
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
    denials(found, theme, clock, width, &mut lines);
    if !found.agents.is_empty() {
        lines.push(theme.head("Subagents"));
        lines.extend(found.agents.iter().flat_map(|agent| paragraph(agent, Style::new(), width)));
    }
    lines
}

fn denials(found: &Detail, theme: Theme, clock: Clock, width: usize, lines: &mut Lines) {
    if found.denials.is_empty() {
        return;
    }
    lines.push(theme.head(format!("Denied {}", found.denials.len())));
    for denial in found.denials.iter().rev() {
        let room = width.saturating_sub(14 + denial.rule.chars().count());
        lines.push(Line::from(vec![
            Span::styled(format!("  {} ", time(denial.ts, clock)), theme.dim()),
            Span::raw(plain::fit(&denial.what, room.max(10))),
            Span::styled(format!("  {} ", denial.rule), theme.bad()),
            Span::styled(format!("#{}", denial.seq), theme.dim()),
        ]));
    }
}

/// What it used. Nothing is estimated.
fn usage(session: &Session) -> String {
    let [input, output, context, limit] = session.tokens;
    let tokens = |what: &str, number: Option<u64>| number.map(|number| format!("{} {what}", count(number)));
    let context = match (context, limit) {
        (Some(context), Some(limit)) if limit > 0 => {
            Some(format!("context {} of {} ({} %)", count(context), count(limit), context * 100 / limit))
        }
        (context, _) => context.map(|context| format!("context {}", count(context))),
    };
    let unpriced =
        (session.unpriced > 0).then(|| format!("{} answers without a known price", session.unpriced));
    let cost = session
        .cost
        .map_or_else(|| "cost not known".to_owned(), |dollars| format!("cost {}", cost(Some(dollars))));
    let parts = [Some(cost), unpriced, tokens("tokens in", input), tokens("out", output), context];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn timeline(steps: &[Step], theme: Theme, clock: Clock, width: usize) -> Lines {
    let mut lines = vec![theme.head("Timeline · the latest first")];
    let room = width.saturating_sub(32);
    for step in steps {
        let name = if step.tool.is_empty() { &step.event } else { &step.tool };
        let what =
            if step.rule.is_empty() { step.what.clone() } else { format!("{} [{}]", step.what, step.rule) };
        lines.push(Line::from(vec![
            Span::styled(format!("  {} ", time(step.ts, clock)), theme.dim()),
            Span::styled(cell(step.verdict.word(), 6), theme.verdict(step.verdict)),
            Span::styled(cell(name, 13) + " ", theme.bold()),
            Span::raw(plain::fit(&what, room)),
        ]));
    }
    lines
}
