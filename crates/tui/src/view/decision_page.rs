// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::text::{Line, Span};

use super::TextLines;
use super::format::{date_time, format_micros, pad_cell, wrapped_lines};
use super::theme::Theme;
use tenterhook_event::Decision;

use crate::message::WallClock;
use crate::parse::{DecisionDetail, TraceRow};
use crate::state::ProofStatus;

pub(super) fn decision_lines(
    found: Option<&DecisionDetail>,
    proved: &ProofStatus,
    theme: Theme,
    clock: WallClock,
    width: usize,
) -> TextLines {
    let Some(found) = found else { return vec![Line::from(Span::styled("  …", theme.dim()))] };
    let line = &found.line;
    let mut lines: TextLines = Vec::new();
    lines.push(Line::from(vec![
        Span::styled(line.verdict.label(), theme.verdict(line.verdict)),
        Span::raw(format!("  {} ", line.harness)),
        Span::styled(line.tool.clone(), theme.bold()),
        Span::styled(
            if found.name.is_empty() { String::new() } else { format!("  {}", found.name) },
            theme.bold(),
        ),
        Span::styled(format!("  {} · {}", line.event, date_time(line.ts, clock)), theme.dim()),
    ]));
    lines.extend(wrapped_lines(&line.gist, theme.bold(), width));
    if found.erased {
        lines.push(Line::from(Span::styled(
            "  content was erased or too large; the record is intact",
            theme.warn(),
        )));
    }
    if found.undelivered {
        let text = "  decided by the hook without the daemon; another record of this event counts";
        lines.push(Line::from(Span::styled(text, theme.warn())));
    }
    push_reply(found, theme, width, &mut lines);
    lines.push(theme.heading(format!("Rules and hooks · decided in {}", format_micros(line.took_us))));
    if found.trace.is_empty() {
        lines.push(Line::from(Span::styled("  none", theme.dim())));
    }
    for entry in &found.trace {
        push_trace_entry(entry, theme, width, &mut lines);
    }
    for (name, text) in &found.changed {
        lines.push(theme.heading(*name));
        lines.extend(text.iter().flat_map(|text| wrapped_lines(text, theme.dim(), width)));
    }
    push_ledger(found, proved, theme, width, &mut lines);
    lines.push(theme.heading(format!("Normalized event · native event {}", found.native_event)));
    lines.extend(
        found.normalized.iter().flat_map(|text| wrapped_lines(text, ratatui::style::Style::new(), width)),
    );
    lines
}

/// Adds the reply sent to the harness: verdict, reason and suggestion.
fn push_reply(found: &DecisionDetail, theme: Theme, width: usize, lines: &mut TextLines) {
    use tenterhook_event::Decision::{Allow, Ask, Defer, Deny, None};
    let meaning = match found.line.verdict {
        None => "no rule or hook decided; the harness decides",
        Allow => "allowed without asking the user",
        Defer => "deferred by a hook",
        Ask => "a user must approve",
        Deny => "denied",
    };
    lines.push(theme.heading("Reply"));
    lines.extend(wrapped_lines(meaning, theme.verdict(found.line.verdict), width));
    lines.extend(
        found.reason.iter().flat_map(|text| wrapped_lines(text, ratatui::style::Style::new(), width)),
    );
    for (at, text) in found.nudge.iter().enumerate() {
        let text = if at == 0 { format!("→ Suggested: {text}") } else { text.clone() };
        lines.extend(wrapped_lines(&text, theme.good(), width));
    }
}

fn push_trace_entry(entry: &TraceRow, theme: Theme, width: usize, lines: &mut TextLines) {
    let style = match entry.decision.as_str() {
        "deny" => theme.bad(),
        "ask" | "defer" => theme.warn(),
        "allow" => theme.good(),
        _ => theme.dim(),
    };
    let name = width.saturating_sub(36).clamp(20, 44);
    lines.push(Line::from(vec![
        Span::styled(format!("  {}", pad_cell(Decision::label_of(&entry.decision), 9)), style),
        Span::raw(pad_cell(&entry.by, name) + " "),
        Span::styled(pad_cell(&entry.status, 11), theme.dim()),
        Span::styled(entry.took_us.map(format_micros).unwrap_or_default(), theme.dim()),
    ]));
    if !entry.note.is_empty() {
        lines.extend(wrapped_lines(&format!("      {}", entry.note), theme.dim(), width));
    }
}

fn push_ledger(
    found: &DecisionDetail,
    proved: &ProofStatus,
    theme: Theme,
    width: usize,
    lines: &mut TextLines,
) {
    lines.push(theme.heading(format!("Ledger · record {}", found.line.seq)));
    let text =
        format!("recorded {} by the {}, generation {}", found.recorded, found.origin, found.generation);
    lines.extend(wrapped_lines(&text, theme.dim(), width));
    lines.extend(wrapped_lines(
        &format!("hash {} · signer {}", found.hash, found.signer),
        theme.dim(),
        width,
    ));
    let (text, style) = match proved {
        ProofStatus::NotAsked => {
            ("press p to verify that this record is in the signed ledger".to_owned(), theme.dim())
        }
        ProofStatus::UnderWay => ("…".to_owned(), theme.dim()),
        ProofStatus::Yes { size, root, key } => (
            format!("✓ verified: in the signed ledger of {size} records, root {root}, key {key}"),
            theme.good(),
        ),
        ProofStatus::No(why) => (format!("✗ not verified: {why}"), theme.bad()),
    };
    lines.extend(wrapped_lines(&text, style, width));
}
