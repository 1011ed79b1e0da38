// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs the terminal in full-screen mode, and restores it when the program ends by a key, a signal or a panic.

use std::io::{BufWriter, Stdout, Write, stdout};
use std::panic;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::style::force_color_output;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use ratatui::{Frame, Terminal};

use tenterhook_command::error::CommandError;

/// Size of the output buffer. Most frames fit, so that a frame is one write.
const FRAME_BUFFER_BYTES: usize = 64 * 1024;

type TuiTerminal = Terminal<CrosstermBackend<BufWriter<Stdout>>>;

pub(super) struct TuiScreen {
    terminal: TuiTerminal,
    mouse: bool,
}

impl TuiScreen {
    /// Switches the terminal to full-screen mode.
    pub(super) fn open(mouse: bool, colors: bool) -> Result<Self, CommandError> {
        if colors {
            // The caller has already decided whether to use colors.
            force_color_output(true);
        }
        // A panic message is printed after the terminal is restored, so that it stays visible.
        let default_hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore_terminal();
            default_hook(info);
        }));
        let mut screen = Self { terminal: new_terminal()?, mouse };
        screen.enter_full_screen()?;
        Ok(screen)
    }

    /// Returns the number of columns and rows.
    pub(super) fn size(&self) -> (u16, u16) {
        size().unwrap_or((80, 24))
    }

    pub(super) fn draw_frame(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<(), CommandError> {
        self.terminal.draw(draw)?;
        Ok(())
    }

    /// Writes a control sequence that does not change the screen.
    pub(super) fn write_control(&mut self, sequence: &str) -> Result<(), CommandError> {
        let mut out = stdout();
        out.write_all(sequence.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Enters full-screen mode again after other programs wrote to the terminal.
    pub(super) fn reset(&mut self) -> Result<(), CommandError> {
        // Clearing the existing terminal would query the cursor position, and the thread that reads keys would
        // receive the answer.
        self.terminal = new_terminal()?;
        self.enter_full_screen()?;
        execute!(stdout(), Clear(ClearType::All))?;
        Ok(())
    }

    fn enter_full_screen(&mut self) -> Result<(), CommandError> {
        enable_raw_mode()?;
        let mut out = stdout();
        execute!(out, EnterAlternateScreen, Hide)?;
        if self.mouse {
            execute!(out, EnableMouseCapture)?;
        }
        Ok(())
    }
}

impl Drop for TuiScreen {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Creates a terminal with an empty buffer.
fn new_terminal() -> Result<TuiTerminal, CommandError> {
    Ok(Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(FRAME_BUFFER_BYTES, stdout())))?)
}

/// Restores the terminal. Errors are ignored, because the terminal may be closed.
fn restore_terminal() {
    let mut out = stdout();
    let _ = execute!(out, DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = out.flush();
    let _ = disable_raw_mode();
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Variable that is set in the process that panics.
    const PANIC_VARIABLE: &str = "TENTERHOOK_TEST_PANICS";

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test may read its own environment")]
    fn a_panic_is_told_on_the_terminal_as_it_was() {
        if std::env::var_os(PANIC_VARIABLE).is_some() {
            let _screen = TuiScreen::open(true, true).unwrap();
            panic!("told afterwards");
        }
        let name = "terminal_screen::tests::a_panic_is_told_on_the_terminal_as_it_was";
        let me = std::env::current_exe().unwrap();
        let command = format!("{PANIC_VARIABLE}=1 '{}' --exact {name} --nocapture", me.display());
        let output = Command::new("script").args(["-qec", &command, "/dev/null"]).output().unwrap();
        let written = String::from_utf8_lossy(&output.stdout);
        let at = |text: &str| written.find(text).unwrap_or_else(|| panic!("no {text:?} in {written:?}"));
        let (taken, given, told) = (at("\u{1b}[?1049h"), at("\u{1b}[?1049l"), at("told afterwards"));
        assert!(taken < given && given < told, "{written:?}");
        assert!(at("\u{1b}[?25h") < told && at("\u{1b}[?1000l") < told, "{written:?}");
    }
}
