// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::text::{Line, Span};

use super::TextLines;
use super::format::pad_cell;
use super::theme::Theme;

/// All keys, grouped by view.
const KEYS: &[(&str, &[(&str, &str)])] = &[
    (
        "All views",
        &[
            ("1 2 3 4, tab", "switch view: live, sessions, approvals, statistics"),
            ("↑ ↓, j k", "move; also page up, page down, space, g, G"),
            ("enter, →", "open the selected row; esc or ← goes back"),
            ("/", "filter: all words must occur (`denied codex rm`); esc clears"),
            ("m", "switch enforce/monitor mode; monitor needs confirmation"),
            ("?  q", "show this help; quit (also ctrl-c)"),
        ],
    ),
    ("Live", &[("g, home", "go to the latest decision and follow")]),
    (
        "Decision",
        &[
            ("p", "verify that the record is in the signed ledger"),
            ("s  u", "open its session; undo its call"),
        ],
    ),
    (
        "Session",
        &[("d", "list its decisions"), ("u", "undo its latest saved call; again for the one before it")],
    ),
    (
        "Approval",
        &[
            ("a", "approve this call: type `approve`, or enter a code"),
            ("s", "approve all calls that the same rules ask about in this session"),
            ("d", "deny, with a message for the agent"),
        ],
    ),
    ("Symbols", &[("␛ ␇ �", "control or invisible character in text from an agent")]),
];

pub(super) fn help_lines(theme: Theme) -> TextLines {
    let mut lines = Vec::new();
    for (heading, keys) in KEYS {
        lines.push(theme.heading(*heading));
        for (key, effect) in *keys {
            lines.push(Line::from(vec![Span::raw(format!("  {} ", pad_cell(key, 13))), Span::raw(*effect)]));
        }
    }
    lines
}
