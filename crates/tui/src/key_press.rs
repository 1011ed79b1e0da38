// SPDX-License-Identifier: Apache-2.0 OR MIT

/// A key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPress {
    /// A character, with Shift applied.
    Char(char),
    /// A character pressed with Control.
    Ctrl(char),
    /// The Return key.
    Enter,
    /// The Escape key.
    Esc,
    /// The Tab key.
    Tab,
    /// Shift and Tab together.
    BackTab,
    /// The Backspace key.
    Backspace,
    /// Arrow up, or the mouse wheel.
    Up,
    /// Arrow down, or the mouse wheel.
    Down,
    /// The left arrow key.
    Left,
    /// The right arrow key.
    Right,
    /// The Page Up key.
    PageUp,
    /// The Page Down key.
    PageDown,
    /// The Home key.
    Home,
    /// The End key.
    End,
}
