// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads keys, mouse events and signals.

use std::thread;

use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind, read,
};
use tenterhook_command::error::CommandError;
use tenterhook_tui::{KeyPress, MouseAction, MouseInput, TuiMessage};
use tokio::signal::unix::{SignalKind, signal};

use super::{TuiEvent, TuiSender};

/// Starts the thread that reads keys.
pub(super) fn spawn_key_reader(sender: TuiSender) -> Result<(), CommandError> {
    thread::Builder::new().name("keys".to_owned()).spawn(move || {
        // Reading fails once the terminal is closed.
        while let Ok(event) = read() {
            if !event_message(&event).is_none_or(|message| sender.send(message)) {
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

fn event_message(event: &Event) -> Option<TuiMessage> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => parse_key(*key).map(TuiMessage::Key),
        Event::Resize(columns, rows) => Some(TuiMessage::Resized(*columns, *rows)),
        Event::Mouse(mouse) => parse_mouse(*mouse).map(TuiMessage::Mouse),
        _ => None,
    }
}

fn parse_mouse(event: MouseEvent) -> Option<MouseInput> {
    let action = match event.kind {
        MouseEventKind::Down(MouseButton::Left) => MouseAction::Click,
        MouseEventKind::ScrollUp => MouseAction::WheelUp,
        MouseEventKind::ScrollDown => MouseAction::WheelDown,
        _ => return None,
    };
    Some(MouseInput { column: event.column, row: event.row, action })
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
