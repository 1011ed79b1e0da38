// SPDX-License-Identifier: Apache-2.0 OR MIT

use ratatui::text::{Line, Span};

use super::Lines;
use super::theme::Theme;
use super::words::cell;

/// Every key there is.
const KEYS: &[(&str, &[(&str, &str)])] = &[
    (
        "Everywhere",
        &[
            ("1 2 3 4, tab", "live · sessions · approvals · statistics"),
            ("↑ ↓, j k", "one up, one down; page up/down, space, g, G"),
            ("enter, →", "open what is chosen; esc, ← goes back"),
            ("/", "filter: every word has to occur (`deny codex rm`); esc shows all"),
            ("m", "mode: enforce or monitor; monitor takes a person"),
            ("?  q", "this help; quit (ctrl-c too)"),
        ],
    ),
    ("Live", &[("g, home", "back to the latest, and stay there")]),
    ("A decision", &[("p", "prove that it is in the signed ledger"), ("s", "its session")]),
    ("A session", &[("d", "its decisions")]),
    (
        "A call that waits",
        &[
            ("a", "approve this call; takes a person: `approve` typed, or a code"),
            ("s", "approve whatever the same rules ask about in this session"),
            ("d", "deny it, with a message that the agent reads"),
        ],
    ),
    ("Signs", &[("␛ ␇ �", "a character that would have moved the cursor, or hidden others")]),
];

pub(super) fn lines(theme: Theme) -> Lines {
    let mut lines = Vec::new();
    for (part, keys) in KEYS {
        lines.push(theme.head(*part));
        for (key, what) in *keys {
            lines.push(Line::from(vec![Span::raw(format!("  {} ", cell(key, 13))), Span::raw(*what)]));
        }
    }
    lines
}
