// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Text for terminals: styles, columns, untrusted text without control characters, sessions and records as tables.
//!
//! Rendered text contains ANSI styles. The caller decides whether to show them, how wide the terminal is and where the
//! text goes; nothing is printed here.

mod layout;
mod qr;
pub mod record_row;
pub mod session_panel;
pub mod session_steps;

use anstyle::{AnsiColor, Style};
use tenterhook_event::Decision;
pub use tenterhook_event::plain_text::strip_control_characters as tame;

pub use layout::{fit, wrap};
pub use qr::draw_qr_code;

/// Names and headings.
pub const BOLD: Style = Style::new().bold();
/// What may be skipped.
pub const DIM: Style = Style::new().dimmed();
/// What is as it should be.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// What needs attention.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// What is denied or broken.
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// The colour of a decision.
pub fn style_of(decision: Decision) -> Style {
    match decision {
        Decision::None => DIM,
        Decision::Allow => GOOD,
        Decision::Defer | Decision::Ask => WARN,
        Decision::Deny => BAD,
    }
}

/// What a decision means to a person.
pub fn verdict_in_words(decision: Decision) -> &'static str {
    match decision {
        Decision::None => "none: nobody objects, the harness decides as it always does",
        Decision::Allow => "allow: the harness need not ask",
        Decision::Defer => "defer: put off for somebody else",
        Decision::Ask => "ask: a person has to say yes",
        Decision::Deny => "deny: it does not happen",
    }
}

/// `1 hook`, `2 hooks`.
pub fn count(number: usize, what: &str) -> String {
    format!("{BOLD}{number}{BOLD:#} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_taken_out() {
        assert_eq!(tame("rm\u{1b}[2K -rf\n/\u{202e}x\u{7}"), "rm[2K -rf /x");
    }
}
