// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::TextLines;
use super::format::{clock_time, format_duration, wrapped_lines};
use super::theme::Theme;
use crate::message::WallClock;
use crate::parse::PendingApproval;

/// Renders the call of an approval. The call is never cut, so that the user can read all of it before approving.
pub(super) fn approval_lines(
    card: &PendingApproval,
    waits: bool,
    theme: Theme,
    clock: WallClock,
    width: usize,
) -> TextLines {
    let left = format_duration(card.until.saturating_sub(clock.now_ms));
    let (text, style) = if waits {
        (format!("{left} left, then denied"), theme.warn())
    } else {
        ("answered or timed out".to_owned(), theme.dim())
    };
    let mut lines = vec![
        Line::from(vec![
            Span::raw(format!("{} ", card.harness)),
            Span::styled(card.tool.clone(), theme.bold()),
            Span::styled(format!("  {}", card.name), theme.bold()),
            Span::styled(format!("  since {}  ", clock_time(card.since, clock)), theme.dim()),
            Span::styled(text, style),
        ]),
        theme.heading("Call"),
    ];
    lines.extend(card.whole.iter().flat_map(|text| wrapped_lines(text, theme.bold(), width)));
    lines.push(theme.heading("Asked by"));
    for (by, said) in &card.reasons {
        lines.extend(wrapped_lines(&format!("{by}: {said}"), Style::new(), width));
    }
    lines.push(theme.heading("Context"));
    for (name, text) in [("directory", &card.cwd), ("session", &card.session), ("user", &card.user)] {
        if !text.is_empty() {
            lines.extend(wrapped_lines(&format!("{name} {text}"), theme.dim(), width));
        }
    }
    if !card.args.is_empty() {
        lines.push(theme.heading("Arguments"));
        lines.extend(card.args.iter().flat_map(|text| wrapped_lines(text, Style::new(), width)));
    }
    lines
}
