// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads keys, mouse events and signals.

use std::thread;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind, read};
use tenterhook_tui::{KeyPress, TuiMessage};
use tokio::signal::unix::{SignalKind, signal};

use super::{TuiEvent, TuiSender};
use crate::error::CommandError;

/// Number of rows scrolled per step of the mouse wheel.
const ROWS_PER_WHEEL_TURN: usize = 3;

/// Starts the thread that reads keys.
pub(super) fn spawn_key_reader(sender: TuiSender) -> Result<(), CommandError> {
    thread::Builder::new().name("keys".to_owned()).spawn(move || {
        // Reading fails once the terminal is closed.
        while let Ok(event) = read() {
            if !event_messages(&event).into_iter().all(|message| sender.send(message)) {
                return;
            }
        }
    })?;
    Ok(())
}

/// Starts the thread that waits for signals.
pub(super) fn spawn_signal_reader(sender: TuiSender) -> Result<(), CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            let continued = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
            let kinds = [
                SignalKind::terminate(),
                SignalKind::interrupt(),
                SignalKind::hangup(),
                SignalKind::quit(),
                continued,
            ];
            let [Ok(mut term), Ok(mut int), Ok(mut hup), Ok(mut quit), Ok(mut continued)] = kinds.map(signal)
            else {
                return;
            };
            loop {
                let events = tokio::select! {
                    _ = term.recv() => TuiEvent::Terminated,
                    _ = int.recv() => TuiEvent::Terminated,
                    _ = hup.recv() => TuiEvent::Terminated,
                    _ = quit.recv() => TuiEvent::Terminated,
                    _ = continued.recv() => TuiEvent::Resumed,
                };
                if sender.to.send(events).is_err() {
                    return;
                }
            }
        });
    })?;
    Ok(())
}

fn event_messages(event: &Event) -> Vec<TuiMessage> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            parse_key(*key).map(TuiMessage::Key).into_iter().collect()
        }
        Event::Resize(columns, rows) => vec![TuiMessage::Resized(*columns, *rows)],
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::ScrollUp => vec![TuiMessage::Key(KeyPress::Up); ROWS_PER_WHEEL_TURN],
            MouseEventKind::ScrollDown => vec![TuiMessage::Key(KeyPress::Down); ROWS_PER_WHEEL_TURN],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn parse_key(event: KeyEvent) -> Option<KeyPress> {
    Some(match event.code {
        KeyCode::Char(letter) if event.modifiers.contains(KeyModifiers::CONTROL) => KeyPress::Ctrl(letter),
        KeyCode::Char(_) if event.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(letter) => KeyPress::Char(letter),
        KeyCode::Enter => KeyPress::Enter,
        KeyCode::Esc => KeyPress::Esc,
        KeyCode::Tab => KeyPress::Tab,
        KeyCode::BackTab => KeyPress::BackTab,
        KeyCode::Backspace => KeyPress::Backspace,
        KeyCode::Up => KeyPress::Up,
        KeyCode::Down => KeyPress::Down,
        KeyCode::Left => KeyPress::Left,
        KeyCode::Right => KeyPress::Right,
        KeyCode::PageUp => KeyPress::PageUp,
        KeyCode::PageDown => KeyPress::PageDown,
        KeyCode::Home => KeyPress::Home,
        KeyCode::End => KeyPress::End,
        _ => return None,
    })
}
