// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Lines;
use super::theme::Theme;
use super::words::{lasted, paragraph, time};
use crate::message::Clock;
use crate::read::Card;

/// A call that waits, never cut: whoever says yes has read it.
pub(super) fn lines(card: &Card, waits: bool, theme: Theme, clock: Clock, width: usize) -> Lines {
    let left = lasted(card.until.saturating_sub(clock.now_ms));
    let (text, style) = if waits {
        (format!("{left} left, then it is denied"), theme.warn())
    } else {
        ("it was answered, or its time is over".to_owned(), theme.dim())
    };
    let mut lines = vec![
        Line::from(vec![
            Span::raw(format!("{} ", card.harness)),
            Span::styled(card.tool.clone(), theme.bold()),
            Span::styled(format!("  since {}  ", time(card.since, clock)), theme.dim()),
            Span::styled(text, style),
        ]),
        theme.head("It wants"),
    ];
    lines.extend(card.whole.iter().flat_map(|text| paragraph(text, theme.bold(), width)));
    lines.push(theme.head("Asked about by"));
    for (by, said) in &card.reasons {
        lines.extend(paragraph(&format!("{by}: {said}"), Style::new(), width));
    }
    lines.push(theme.head("Where"));
    for (name, text) in [("in", &card.cwd), ("session", &card.session), ("user", &card.user)] {
        if !text.is_empty() {
            lines.extend(paragraph(&format!("{name} {text}"), theme.dim(), width));
        }
    }
    if !card.args.is_empty() {
        lines.push(theme.head("All arguments"));
        lines.extend(card.args.iter().flat_map(|text| paragraph(text, Style::new(), width)));
    }
    lines
}
