// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Text of somebody else's, so that a terminal shows it and does nothing else.

pub use tenterhook_event::plain_text::is_invisible;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The most letters without a width of their own that one place may carry.
const MARKS: usize = 3;

/// Text on one line. What a terminal would obey is shown as a picture of it (`␛`), and what hides or
/// reorders other letters as `�`: whoever approves a command has to see that there is something.
pub fn line(text: &str) -> String {
    let mut marks = 0;
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        let letter = visible(letter);
        marks = if letter.width() == Some(0) { marks + 1 } else { 0 };
        if marks <= MARKS {
            shown.push(letter);
        }
    }
    shown
}

/// The same, where a line of the text is a line.
pub fn lines(text: &str) -> Vec<String> {
    text.lines().map(line).collect()
}

fn visible(letter: char) -> char {
    match letter {
        '\n' => '↵',
        '\t' => ' ',
        '\u{7f}' => '␡',
        letter if letter < ' ' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or('�'),
        letter if letter.is_control() || is_invisible(letter) => '�',
        letter if letter.is_whitespace() => ' ',
        letter => letter,
    }
}

/// As much of a line as fits, and a sign that there was more.
pub fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 0;
    for letter in text.chars() {
        used += letter.width().unwrap_or_default();
        if used >= width {
            break;
        }
        shown.push(letter);
    }
    if width > 0 {
        shown.push('…');
    }
    shown
}

/// The end of a line, where that says more than its begin: a path, an id.
pub fn fit_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = |letter: &char| {
        used += letter.width().unwrap_or_default();
        used < width
    };
    let mut end: Vec<char> = text.chars().rev().take_while(fits).collect();
    end.push('…');
    end.into_iter().rev().collect()
}

/// A line, broken so that each piece fits.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        if used > 0 && used + word.trim_end().width() > width {
            pieces.push(String::new());
            used = 0;
        }
        for letter in word.chars() {
            let wide = letter.width().unwrap_or_default();
            if used + wide > width {
                pieces.push(String::new());
                used = 0;
                if letter == ' ' {
                    continue;
                }
            }
            used += wide;
            if let Some(piece) = pieces.last_mut() {
                piece.push(letter);
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_obeys_is_left_and_nothing_disappears() {
        assert_eq!(line("rm\u{1b}[2K -rf\n/\u{202e}x\u{7}\u{9b}1m"), "rm␛[2K -rf↵/�x␇�1m");
        assert_eq!(line("a\u{7f}\r\u{2028}b\u{200d}c"), "a␡␍ b�c");
        let all: String = (0..0x11_0000).filter_map(char::from_u32).collect();
        assert!(!line(&all).chars().any(|letter| letter.is_control() || is_invisible(letter)));
        assert_eq!(line(&format!("a{}b", "\u{301}".repeat(500))).chars().count(), 5, "no towers");
        assert_eq!(lines("a\n\u{1b}b"), ["a", "␛b"]);
    }

    #[test]
    fn what_is_too_long_is_cut_by_its_width() {
        assert_eq!(
            (fit("abc", 3), fit("abcd", 3), fit("漢字漢字", 5)),
            ("abc".into(), "ab…".into(), "漢字…".into())
        );
        assert_eq!((fit_end("abcd", 3), fit_end("/a/漢字", 4)), ("…cd".into(), "…字".into()));
        assert_eq!((fit("ab", 0), fit_end("ab", 1)), (String::new(), "…".to_owned()));
        assert_eq!(wrap("one two three four", 9), ["one two ", "three ", "four"]);
        assert_eq!(wrap("one  two", 8), ["one  two"]);
        assert_eq!(wrap("exactly8 and more", 8), ["exactly8", "and more"]);
        assert_eq!(wrap(&"x".repeat(20), 8), ["xxxxxxxx", "xxxxxxxx", "xxxx"]);
    }
}
