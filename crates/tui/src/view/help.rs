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
            ("↑ ↓, j k", "move; also page up, page down, space, g, G; J K: preview"),
            ("enter, →", "open the selected row; esc or ← goes back"),
            ("/  :", "filter (all words must occur); command line, such as `:explain ls`"),
            ("m  ?  q", "switch enforce/monitor mode; show this help; quit (also ctrl-c)"),
        ],
    ),
    (
        "Calls",
        &[
            ("n  g", "list notable calls or all calls; go to the latest and follow"),
            ("b  a", "block calls like this one; allow this call to run once"),
            ("u  e  y", "undo it; explain what the current rules decide; copy it"),
            ("s  p", "open its session; verify that its record is in the signed ledger"),
        ],
    ),
    (
        "Session",
        &[
            ("d  y", "list its calls; copy its id"),
            ("u", "undo its latest saved call; again for the one before it"),
        ],
    ),
    (
        "Approval",
        &[
            ("a", "approve this call: type `approve`, or enter a code"),
            ("s", "approve all calls that the same rules ask about in this session"),
            ("d  y", "deny, with a message for the agent; copy the call"),
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
