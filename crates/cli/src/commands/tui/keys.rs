// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a person does at the terminal.

use std::thread;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind, read};
use tenterhook_tui::{Key, Message};
use tokio::signal::unix::{SignalKind, signal};

use super::{Heard, Teller};
use crate::error::CommandError;

/// Rows per turn of a mouse's wheel.
const TURN: usize = 3;

/// Reads keys, in a thread of its own.
pub(super) fn begin(teller: Teller) -> Result<(), CommandError> {
    thread::Builder::new().name("keys".to_owned()).spawn(move || {
        // A terminal that is gone tells nothing any more.
        while let Ok(event) = read() {
            if !messages(&event).into_iter().all(|message| teller.tell(message)) {
                return;
            }
        }
    })?;
    Ok(())
}

/// Hears signals, in a thread of its own.
pub(super) fn signals(teller: Teller) -> Result<(), CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            let goes_on = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
            let kinds = [
                SignalKind::terminate(),
                SignalKind::interrupt(),
                SignalKind::hangup(),
                SignalKind::quit(),
                goes_on,
            ];
            let [Ok(mut term), Ok(mut int), Ok(mut hup), Ok(mut quit), Ok(mut goes_on)] = kinds.map(signal)
            else {
                return;
            };
            loop {
                let heard = tokio::select! {
                    _ = term.recv() => Heard::Ended,
                    _ = int.recv() => Heard::Ended,
                    _ = hup.recv() => Heard::Ended,
                    _ = quit.recv() => Heard::Ended,
                    _ = goes_on.recv() => Heard::Again,
                };
                if teller.to.send(heard).is_err() {
                    return;
                }
            }
        });
    })?;
    Ok(())
}

fn messages(event: &Event) -> Vec<Message> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            self::key(*key).map(Message::Key).into_iter().collect()
        }
        Event::Resize(columns, rows) => vec![Message::Size(*columns, *rows)],
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::ScrollUp => vec![Message::Key(Key::Up); TURN],
            MouseEventKind::ScrollDown => vec![Message::Key(Key::Down); TURN],
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    Some(match event.code {
        KeyCode::Char(letter) if event.modifiers.contains(KeyModifiers::CONTROL) => Key::Ctrl(letter),
        KeyCode::Char(_) if event.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
