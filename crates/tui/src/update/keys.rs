// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a key does.

use super::prompts;
use crate::input::Key;
use crate::message::{Command, Deed, Scope, Subject};
use crate::prompt::{Asks, Prompt};
use crate::state::{Fetching, Open, Page, Proved, State, Tab};

pub(super) fn press(state: &mut State, key: Key) -> Vec<Command> {
    if key == Key::Ctrl('c') {
        return vec![Command::Quit];
    }
    if state.prompt.is_some() {
        return prompts::press(state, key);
    }
    state.notice = None;
    if state.help {
        state.help = false;
        return if key == Key::Char('q') { vec![Command::Quit] } else { Vec::new() };
    }
    match key {
        Key::Char('q') => return vec![Command::Quit],
        Key::Char('?') => state.help = true,
        Key::Char('m') => return mode(state),
        Key::Char('1') => return to(state, Tab::Live),
        Key::Char('2') => return to(state, Tab::Sessions),
        Key::Char('3') => return to(state, Tab::Approvals),
        Key::Char('4') => return to(state, Tab::Statistics),
        Key::Tab => return to(state, state.tab.further(1)),
        Key::BackTab => return to(state, state.tab.further(Tab::ALL.len() - 1)),
        Key::Esc | Key::Backspace | Key::Left => back(state),
        key => return if state.pages.is_empty() { in_list(state, key) } else { on_page(state, key) },
    }
    Vec::new()
}

/// How far a key goes in a list or a text, in rows.
pub(super) fn distance(key: Key, rows: usize) -> Option<isize> {
    let page = isize::try_from(rows.saturating_sub(1).max(1)).unwrap_or(1);
    Some(match key {
        Key::Up | Key::Char('k') => -1,
        Key::Down | Key::Char('j') => 1,
        Key::PageUp | Key::Ctrl('b' | 'u') => -page,
        Key::PageDown | Key::Char(' ') | Key::Ctrl('f' | 'd') => page,
        Key::Home | Key::Char('g') => isize::MIN / 2,
        Key::End | Key::Char('G') => isize::MAX / 2,
        _ => return None,
    })
}

/// Scrolls what is open. How far it can go is known to whoever draws it.
pub(super) fn scroll(state: &mut State, by: isize) {
    let longest = crate::view::scrolls(state);
    if let Some(page) = state.pages.last_mut() {
        page.scroll = page.scroll.min(longest).saturating_add_signed(by).min(longest);
    }
}

fn to(state: &mut State, tab: Tab) -> Vec<Command> {
    state.tab = tab;
    state.pages.clear();
    match tab {
        Tab::Statistics => vec![Command::Get(Subject::Ledger), Command::Get(Subject::Health)],
        _ => Vec::new(),
    }
}

/// Out of what is open; at last the filter goes.
fn back(state: &mut State) {
    if state.pages.pop().is_none()
        && let Some(filter) = state.filter()
    {
        filter.clear();
    }
}

fn mode(state: &mut State) -> Vec<Command> {
    if state.health.monitors {
        state.prompt = Some(Prompt::new(Asks::Yes(Deed::Enforce)));
        return Vec::new();
    }
    vec![Command::Ask(Deed::Monitor)]
}

fn in_list(state: &mut State, key: Key) -> Vec<Command> {
    let rows = state.rows();
    if let Some(by) = distance(key, rows) {
        return go(state, by, rows);
    }
    match (state.tab, key) {
        (Tab::Live | Tab::Sessions | Tab::Approvals, Key::Char('/')) => {
            let text = state.filter().map(std::mem::take).unwrap_or_default();
            state.prompt = Some(Prompt { asks: Asks::Filter, text });
        }
        (Tab::Live, Key::Enter | Key::Right) => {
            if let Some(seq) = state.feed.chosen().map(|line| line.seq) {
                return open(state, Page::decision(seq));
            }
        }
        (Tab::Sessions, Key::Enter | Key::Right) => {
            if let Some(key) = state.sessions.chosen().map(|session| session.key.clone()) {
                return open(state, Page::session(key, state.clock.now_ms));
            }
        }
        (Tab::Approvals, Key::Enter | Key::Right | Key::Char('a' | 's' | 'd')) => {
            if let Some(card) = state.approvals.chosen().cloned() {
                // Nobody says yes to what they do not see.
                let commands = open(state, (Page::approval(card), Vec::new()));
                return [commands, on_page(state, key)].concat();
            }
        }
        _ => {}
    }
    Vec::new()
}

fn go(state: &mut State, by: isize, rows: usize) -> Vec<Command> {
    match state.tab {
        Tab::Live => {
            let last = state.feed.go(by, rows);
            let oldest = state.feed.last().map(|line| line.seq);
            if last && by > 0 && state.fetching == Fetching::No && !state.feed.is_full() && oldest.is_some() {
                state.fetching = Fetching::UnderWay;
                return vec![Command::Get(Subject::Decisions(oldest))];
            }
        }
        Tab::Sessions => drop(state.sessions.go(by, rows)),
        Tab::Approvals => drop(state.approvals.go(by, rows)),
        Tab::Statistics => {}
    }
    Vec::new()
}

fn open(state: &mut State, (page, commands): (Page, Vec<Command>)) -> Vec<Command> {
    state.pages.push(page);
    commands
}

fn on_page(state: &mut State, key: Key) -> Vec<Command> {
    if let Some(by) = distance(key, state.rows()) {
        scroll(state, by);
        return Vec::new();
    }
    let now = state.clock.now_ms;
    let Some(page) = state.pages.last_mut() else { return Vec::new() };
    match (&mut page.open, key) {
        (Open::Decision { seq, proved, .. }, Key::Char('p')) => {
            *proved = Proved::UnderWay;
            vec![Command::Get(Subject::Proof(*seq))]
        }
        (Open::Decision { found: Some(found), .. }, Key::Char('s')) if !found.line.session.is_empty() => {
            let key = format!("{}:{}", found.line.harness, found.line.session);
            open(state, Page::session(key, now))
        }
        (Open::Session { key, .. }, Key::Char('d') | Key::Enter) => {
            let key = key.clone();
            let id = key.split_once(':').map_or(key.as_str(), |(_, id)| id).to_owned();
            state.pages.clear();
            state.tab = Tab::Live;
            state.feed.filter = id;
            state.feed.first();
            vec![Command::Get(Subject::DecisionsOf(key))]
        }
        (Open::Approval { card, waits: true }, Key::Char('a')) => {
            vec![Command::Ask(Deed::Approve(card.shown(), Scope::Once))]
        }
        (Open::Approval { card, waits: true }, Key::Char('s')) => {
            vec![Command::Ask(Deed::Approve(card.shown(), Scope::Session))]
        }
        (Open::Approval { card, waits: true }, Key::Char('d')) => {
            state.prompt = Some(Prompt::new(Asks::Note(card.id.clone())));
            Vec::new()
        }
        _ => Vec::new(),
    }
}
