// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::text::{Line, Span};

use super::Lines;
use super::theme::Theme;
use super::words::{cell, day_and_time, paragraph, took};
use crate::message::Clock;
use crate::read::{Decided, Part};
use crate::state::Proved;

pub(super) fn lines(
    found: Option<&Decided>,
    proved: &Proved,
    theme: Theme,
    clock: Clock,
    width: usize,
) -> Lines {
    let Some(found) = found else { return vec![Line::from(Span::styled("  …", theme.dim()))] };
    let line = &found.line;
    let mut lines: Lines = Vec::new();
    lines.push(Line::from(vec![
        Span::styled(line.verdict.word(), theme.verdict(line.verdict)),
        Span::raw(format!("  {} ", line.harness)),
        Span::styled(line.tool.clone(), theme.bold()),
        Span::styled(format!("  {} · {}", line.event, day_and_time(line.ts, clock)), theme.dim()),
    ]));
    lines.extend(paragraph(&line.gist, theme.bold(), width));
    if found.erased {
        lines.push(Line::from(Span::styled(
            "  its content was erased or too large; the leaf is whole",
            theme.warn(),
        )));
    }
    if found.undelivered {
        let text = "  the hook decided by itself; another leaf of this event counts";
        lines.push(Line::from(Span::styled(text, theme.warn())));
    }
    reply(found, theme, width, &mut lines);
    lines.push(theme.head(format!("Who spoke · decided in {}", took(line.took_us))));
    if found.parts.is_empty() {
        lines.push(Line::from(Span::styled("  nobody", theme.dim())));
    }
    for part in &found.parts {
        spoke(part, theme, width, &mut lines);
    }
    for (name, text) in &found.changed {
        lines.push(theme.head(*name));
        lines.extend(text.iter().flat_map(|text| paragraph(text, theme.dim(), width)));
    }
    ledger(found, proved, theme, width, &mut lines);
    lines.push(theme.head(format!("Normal form · the harness calls it {}", found.native_event)));
    lines.extend(found.normal.iter().flat_map(|text| paragraph(text, ratatui::style::Style::new(), width)));
    lines
}

/// What the agent and its harness were told.
fn reply(found: &Decided, theme: Theme, width: usize, lines: &mut Lines) {
    use tenterhook_event::Decision::{Allow, Ask, Defer, Deny, None};
    let meaning = match found.line.verdict {
        None => "nobody objects, the harness decides as it always does",
        Allow => "the harness need not ask",
        Defer => "put off for somebody else",
        Ask => "a person has to say yes",
        Deny => "it does not happen",
    };
    lines.push(theme.head("Reply"));
    lines.extend(paragraph(meaning, theme.verdict(found.line.verdict), width));
    lines.extend(found.reason.iter().flat_map(|text| paragraph(text, ratatui::style::Style::new(), width)));
    for (at, text) in found.nudge.iter().enumerate() {
        let text = if at == 0 { format!("→ Suggested: {text}") } else { text.clone() };
        lines.extend(paragraph(&text, theme.good(), width));
    }
}

fn spoke(part: &Part, theme: Theme, width: usize, lines: &mut Lines) {
    let style = match part.decision.as_str() {
        "deny" => theme.bad(),
        "ask" | "defer" => theme.warn(),
        "allow" => theme.good(),
        _ => theme.dim(),
    };
    let name = width.saturating_sub(33).clamp(20, 44);
    lines.push(Line::from(vec![
        Span::styled(format!("  {}", cell(&part.decision, 6)), style),
        Span::raw(cell(&part.by, name) + " "),
        Span::styled(cell(&part.status, 11), theme.dim()),
        Span::styled(part.took_us.map(took).unwrap_or_default(), theme.dim()),
    ]));
    if !part.note.is_empty() {
        lines.extend(paragraph(&format!("      {}", part.note), theme.dim(), width));
    }
}

fn ledger(found: &Decided, proved: &Proved, theme: Theme, width: usize, lines: &mut Lines) {
    lines.push(theme.head(format!("Ledger · leaf {}", found.line.seq)));
    let text =
        format!("recorded {} by the {}, generation {}", found.recorded, found.origin, found.generation);
    lines.extend(paragraph(&text, theme.dim(), width));
    lines.extend(paragraph(&format!("hash {} · signer {}", found.hash, found.signer), theme.dim(), width));
    let (text, style) = match proved {
        Proved::NotAsked => ("p: prove that it is in the signed ledger".to_owned(), theme.dim()),
        Proved::UnderWay => ("…".to_owned(), theme.dim()),
        Proved::Yes { size, root, key } => {
            (format!("✓ proved: in the signed tree of {size} leaves, root {root}, key {key}"), theme.good())
        }
        Proved::No(why) => (format!("✗ not proved: {why}"), theme.bad()),
    };
    lines.extend(paragraph(&text, style, width));
}
