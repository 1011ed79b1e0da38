// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shows text page by page on a terminal of any size; a key turns the page.

use std::io::{BufRead, stdin};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use tenterhook_agent::CancelToken;
use unicode_width::UnicodeWidthStr;

use crate::error::CommandError;
use crate::terminal::{DIM, Terminal};

const NEXT_PAGE: &str = "── any key: next page · Ctrl-C: end ──";
/// Minimum number of rows; a smaller terminal is treated as having this many.
const MIN_ROWS: usize = 8;
/// Maximum length of a key sequence that is read at once, such as an arrow key.
const MAX_KEY_BYTES: usize = 16;

/// A terminal with a user, and the number of rows used on its current page.
pub(super) struct Pager<'a> {
    terminal: Terminal,
    cancel: &'a CancelToken,
    /// Whether the terminal can move its cursor.
    moves_cursor: bool,
    used_rows: usize,
}

impl<'a> Pager<'a> {
    pub(super) fn new(terminal: Terminal, moves_cursor: bool, cancel: &'a CancelToken) -> Self {
        Self { terminal, cancel, moves_cursor, used_rows: 0 }
    }

    /// Shows a block of lines on this page, or on the next one if it does not fit. A block longer than a page is
    /// split.
    pub(super) async fn show(&mut self, block: &str) -> Result<(), CommandError> {
        let (columns, rows) = screen_size();
        let room = rows - 1;
        let block_rows: usize = block.lines().map(|line| count_rows(line, columns)).sum();
        if self.used_rows > 0 && self.used_rows + block_rows > room {
            self.turn_page().await?;
        }
        for line in block.lines() {
            let height = count_rows(line, columns);
            if self.used_rows + height > room {
                self.turn_page().await?;
            }
            // A page does not start with an empty line.
            if (self.used_rows == 0 && line.is_empty()) || self.cancel.is_cancelled() {
                continue;
            }
            self.terminal.print(&format!("{line}\n"))?;
            self.used_rows += height;
        }
        Ok(())
    }

    /// Shows a question and reads the answer on its last line. Returns `None` if cancelled or at the end of input.
    pub(super) async fn ask(&mut self, question: &str) -> Result<Option<String>, CommandError> {
        let (above, prompt) = question.rsplit_once('\n').unwrap_or(("", question));
        self.show(above).await?;
        if self.cancel.is_cancelled() {
            return Ok(None);
        }
        self.terminal.print(prompt)?;
        self.used_rows += 1;
        Ok(self.cancel.or(read_line()).await.flatten())
    }

    /// Waits for a key and starts a new page.
    pub(super) async fn turn_page(&mut self) -> Result<(), CommandError> {
        if self.cancel.is_cancelled() {
            return Ok(());
        }
        {
            let _mode = KeyMode::enable();
            self.terminal.print(&format!("{DIM}{NEXT_PAGE}{DIM:#}"))?;
            self.cancel.or(read_key()).await;
        }
        self.terminal.print_raw(&format!("\r{:width$}\r", "", width = NEXT_PAGE.width()), "")?;
        self.start_page()
    }

    /// Scrolls the page away, so that it stays in the terminal's history, and starts at the top.
    pub(super) fn start_page(&mut self) -> Result<(), CommandError> {
        self.used_rows = 0;
        if self.cancel.is_cancelled() {
            return Ok(());
        }
        let text = if self.moves_cursor {
            format!("{}\u{1b}[H", "\n".repeat(screen_size().1 - 1))
        } else {
            "\n".to_owned()
        };
        self.terminal.print_raw(&text, "")
    }

    /// Waits for a key. Returns `None` if cancelled, or at the end of the input.
    pub(super) async fn wait_for_key(&self) -> Option<u8> {
        let _mode = KeyMode::enable();
        self.cancel.or(read_key()).await.flatten()
    }
}

/// Returns columns and rows of the terminal.
fn screen_size() -> (usize, usize) {
    let size = terminal_size::terminal_size();
    let (columns, rows) =
        size.map_or((80, 24), |(columns, rows)| (usize::from(columns.0), usize::from(rows.0)));
    (columns.max(1), rows.max(MIN_ROWS))
}

/// Counts the rows that a line takes on a terminal of this many columns.
fn count_rows(line: &str, columns: usize) -> usize {
    let visible = anstream::adapter::strip_str(line).to_string();
    visible.width().div_ceil(columns).max(1)
}

/// Reads single keys without echo while this value exists. Keys that send signals, such as Ctrl-C, still do so.
struct KeyMode(Termios);

impl KeyMode {
    /// Enables the key mode. Returns `None` if standard input is not a terminal; then whole lines are read.
    fn enable() -> Option<Self> {
        let before = tcgetattr(stdin()).ok()?;
        let mut keys = before.clone();
        keys.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        keys.special_codes[SpecialCodeIndex::VMIN] = 1;
        keys.special_codes[SpecialCodeIndex::VTIME] = 0;
        // Drops keys that were pressed before the question appeared on the screen.
        tcsetattr(stdin(), OptionalActions::Flush, &keys).ok()?;
        Some(Self(before))
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}

/// Reads the first byte of the next key; `None` at the end of the input.
async fn read_key() -> Option<u8> {
    // The read cannot be cancelled, and the process does not wait for it when it ends.
    let read = tokio::task::spawn_blocking(|| {
        let mut key = [0; MAX_KEY_BYTES];
        let read = rustix::io::read(stdin(), &mut key).ok()?;
        key.first().copied().filter(|_| read > 0)
    });
    read.await.ok().flatten()
}

/// Reads the next line of input; `None` at the end of the input.
async fn read_line() -> Option<String> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        stdin().lock().read_line(&mut line).ok().filter(|read| *read > 0)?;
        Some(line)
    });
    read.await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_as_many_rows_as_it_wraps_to() {
        assert_eq!(count_rows("", 80), 1);
        assert_eq!(count_rows(&"x".repeat(80), 80), 1);
        assert_eq!(count_rows(&"x".repeat(81), 80), 2);
        assert_eq!(count_rows(&format!("\u{1b}[1m{}\u{1b}[0m", "x".repeat(80)), 80), 1, "styles take none");
        assert_eq!(count_rows(&"日".repeat(41), 80), 2, "wide characters take two columns");
    }
}
