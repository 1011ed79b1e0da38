// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Makes untrusted text safe to show on a terminal.

pub use tenterhook_event::plain_text::is_invisible;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Maximum number of zero-width characters in one cell.
const MAX_COMBINING_MARKS: usize = 3;

/// Returns the text on one line. Control characters are shown as symbols (`␛`), and characters that hide or reorder
/// other characters are shown as `�`. So a user who approves a command can see them.
pub fn single_line(text: &str) -> String {
    let mut marks = 0;
    let mut output = String::with_capacity(text.len());
    for c in text.chars() {
        let c = visible_char(c);
        marks = if c.width() == Some(0) { marks + 1 } else { 0 };
        if marks <= MAX_COMBINING_MARKS {
            output.push(c);
        }
    }
    output
}

/// Returns the text with its line breaks, each line as in [`single_line`].
pub fn text_lines(text: &str) -> Vec<String> {
    text.lines().map(single_line).collect()
}

fn visible_char(c: char) -> char {
    match c {
        '\n' => '↵',
        '\t' => ' ',
        '\u{7f}' => '␡',
        c if c < ' ' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('�'),
        c if c.is_control() || is_invisible(c) => '�',
        c if c.is_whitespace() => ' ',
        c => c,
    }
}

/// Cuts the end of a line to fit the width, with an ellipsis.
pub fn truncate(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut output = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or_default();
        if used >= width {
            break;
        }
        output.push(c);
    }
    if width > 0 {
        output.push('…');
    }
    output
}

/// Cuts the start of a line to fit the width, with an ellipsis. Used for paths and ids, whose end matters.
pub fn truncate_start(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or_default();
        used < width
    };
    let mut end: Vec<char> = text.chars().rev().take_while(fits).collect();
    end.push('…');
    end.into_iter().rev().collect()
}

/// Wraps a line to the width.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        if used > 0 && used + word.trim_end().width() > width {
            pieces.push(String::new());
            used = 0;
        }
        for c in word.chars() {
            let char_width = c.width().unwrap_or_default();
            if used + char_width > width {
                pieces.push(String::new());
                used = 0;
                if c == ' ' {
                    continue;
                }
            }
            used += char_width;
            if let Some(piece) = pieces.last_mut() {
                piece.push(c);
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced_and_nothing_disappears() {
        assert_eq!(single_line("rm\u{1b}[2K -rf\n/\u{202e}x\u{7}\u{9b}1m"), "rm␛[2K -rf↵/�x␇�1m");
        assert_eq!(single_line("a\u{7f}\r\u{2028}b\u{200d}c"), "a␡␍ b�c");
        let all: String = (0..0x11_0000).filter_map(char::from_u32).collect();
        assert!(!single_line(&all).chars().any(|c| c.is_control() || is_invisible(c)));
        assert_eq!(
            single_line(&format!("a{}b", "\u{301}".repeat(500))).chars().count(),
            5,
            "combining marks are bounded"
        );
        assert_eq!(text_lines("a\n\u{1b}b"), ["a", "␛b"]);
    }

    #[test]
    fn long_text_is_cut_by_its_width() {
        assert_eq!(
            (truncate("abc", 3), truncate("abcd", 3), truncate("漢字漢字", 5)),
            ("abc".into(), "ab…".into(), "漢字…".into())
        );
        assert_eq!((truncate_start("abcd", 3), truncate_start("/a/漢字", 4)), ("…cd".into(), "…字".into()));
        assert_eq!((truncate("ab", 0), truncate_start("ab", 1)), (String::new(), "…".to_owned()));
        assert_eq!(wrap("one two three four", 9), ["one two ", "three ", "four"]);
        assert_eq!(wrap("one  two", 8), ["one  two"]);
        assert_eq!(wrap("exactly8 and more", 8), ["exactly8", "and more"]);
        assert_eq!(wrap(&"x".repeat(20), 8), ["xxxxxxxx", "xxxxxxxx", "xxxx"]);
    }
}
