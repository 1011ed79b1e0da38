// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats text for terminals: styles, columns, untrusted text without control characters, session and record tables.
//!
//! Rendered text contains ANSI styles. The caller decides whether to show the styles, how wide the terminal is and
//! where the text goes. This crate prints nothing.

pub mod approval_text;
mod layout;
mod qr;
mod record_page;
pub mod record_row;
mod retention;
pub mod session_panel;
pub mod session_steps;

use anstyle::{AnsiColor, Style};
use tenterhook_event::Decision;
pub use tenterhook_event::plain_text::strip_control_characters as tame;

pub use layout::{TableLayout, fit, pad, wrap};
pub use qr::{draw_qr_code, qr_code_rows};
pub use record_page::record_text;
pub use retention::retention_text;

/// Style of names and headings.
pub const BOLD: Style = Style::new().bold();
/// Style of secondary text.
pub const DIM: Style = Style::new().dimmed();
/// Style of success.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Style of warnings.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// Style of denials and errors.
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// Returns the style of a verdict.
pub fn style_of(decision: Decision) -> Style {
    match decision {
        Decision::None => DIM,
        Decision::Allow => GOOD,
        Decision::Defer | Decision::Ask => WARN,
        Decision::Deny => BAD,
    }
}

/// Describes a verdict in a few words, for users.
pub fn describe_verdict(decision: Decision) -> &'static str {
    match decision {
        Decision::None => "no match: the harness decides as usual",
        Decision::Allow => "allowed: the harness does not ask",
        Decision::Defer => "deferred",
        Decision::Ask => "asked: a user must approve it",
        Decision::Deny => "denied: blocked",
    }
}

/// Formats a count with its noun: `1 hook`, `2 hooks`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{BOLD}{number}{BOLD:#} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_removed() {
        assert_eq!(tame("rm\u{1b}[2K -rf\n/\u{202e}x\u{7}"), "rm[2K -rf /x");
    }
}
