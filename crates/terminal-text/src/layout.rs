// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lays out text in columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Truncates a string with an ellipsis, or pads it with spaces, to exactly this width.
pub fn fit(text: &str, width: usize) -> String {
    let cut = if text.width() <= width {
        text.to_owned()
    } else {
        let mut used = 0;
        let kept = text.chars().take_while(|c| {
            used += c.width().unwrap_or(0);
            used < width
        });
        kept.collect::<String>() + "…"
    };
    let blanks = width.saturating_sub(cut.width());
    cut + &" ".repeat(blanks)
}

/// Pads a string with spaces to this width; a longer string is unchanged.
pub fn pad(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(text.width());
    text.to_owned() + &" ".repeat(blanks)
}

/// How the columns of a table are formatted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableLayout {
    /// Width of the whole table, in columns.
    pub width: usize,
    /// Whether longer values are truncated. Programs that read a table from a pipe need the whole values.
    pub is_truncated: bool,
}

impl TableLayout {
    /// Formats one value of a column.
    pub fn cell(self, text: &str, width: usize) -> String {
        if self.is_truncated { fit(text, width) } else { pad(text, width) }
    }
}

/// Wraps a string between words to lines of at most this width.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_exactly_as_wide_as_its_column() {
        for text in
            ["", "short", "a text that is far too long for its column", "日本語のとても長い文字列です"]
        {
            assert_eq!(fit(text, 12).width(), 12, "{text}");
        }
    }
}
