// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Handles key presses.

use super::{call_actions, prompt_input};
use crate::input_prompt::{InputPrompt, PromptPurpose};
use crate::key_press::KeyPress;
use crate::message::{ApproveFor, FetchTarget, ListedCalls, TuiCommand, UserAction};
use crate::state::{OpenPage, PageContent, ProofStatus, TuiState, ViewTab};

pub(super) fn handle_key(state: &mut TuiState, key: KeyPress) -> Vec<TuiCommand> {
    if key == KeyPress::Ctrl('c') {
        return vec![TuiCommand::Quit];
    }
    if state.prompt.is_some() {
        return prompt_input::handle_prompt_key(state, key);
    }
    state.notice = None;
    if state.help {
        state.help = false;
        return if key == KeyPress::Char('q') { vec![TuiCommand::Quit] } else { Vec::new() };
    }
    match key {
        KeyPress::Char('q') => return vec![TuiCommand::Quit],
        KeyPress::Char('?') => state.help = true,
        KeyPress::Char(':') => state.prompt = Some(InputPrompt::new(PromptPurpose::Command)),
        KeyPress::Char('J') => scroll_preview(state, 1),
        KeyPress::Char('K') => scroll_preview(state, -1),
        KeyPress::Char('m') => return toggle_mode(state),
        KeyPress::Char('1') => return switch_tab(state, ViewTab::Live),
        KeyPress::Char('2') => return switch_tab(state, ViewTab::Sessions),
        KeyPress::Char('3') => return switch_tab(state, ViewTab::Approvals),
        KeyPress::Char('4') => return switch_tab(state, ViewTab::Statistics),
        KeyPress::Tab => return switch_tab(state, state.tab.step(1)),
        KeyPress::BackTab => return switch_tab(state, state.tab.step(ViewTab::ALL.len() - 1)),
        KeyPress::Esc | KeyPress::Backspace | KeyPress::Left => go_back(state),
        key => {
            if let Some(commands) = call_actions::handle_call_key(state, key) {
                return commands;
            }
            return if state.pages.is_empty() {
                handle_list_key(state, key)
            } else {
                handle_page_key(state, key)
            };
        }
    }
    Vec::new()
}

/// Returns the number of rows that a key moves or scrolls.
pub(super) fn scroll_distance(key: KeyPress, rows: usize) -> Option<isize> {
    let page = isize::try_from(rows.saturating_sub(1).max(1)).unwrap_or(1);
    Some(match key {
        KeyPress::Up | KeyPress::Char('k') => -1,
        KeyPress::Down | KeyPress::Char('j') => 1,
        KeyPress::PageUp | KeyPress::Ctrl('b' | 'u') => -page,
        KeyPress::PageDown | KeyPress::Char(' ') | KeyPress::Ctrl('f' | 'd') => page,
        KeyPress::Home | KeyPress::Char('g') => isize::MIN / 2,
        KeyPress::End | KeyPress::Char('G') => isize::MAX / 2,
        _ => return None,
    })
}

/// Scrolls the open page. The maximum comes from the view.
pub(super) fn scroll_page(state: &mut TuiState, by: isize) {
    let max_scroll = crate::view::max_scroll(state);
    if let Some(page) = state.pages.last_mut() {
        page.scroll = page.scroll.min(max_scroll).saturating_add_signed(by).min(max_scroll);
    }
}

/// Scrolls the preview beside the list.
pub(super) fn scroll_preview(state: &mut TuiState, by: isize) {
    let max_scroll = crate::view::max_preview_scroll(state);
    if let Some(page) = &mut state.preview.page {
        page.scroll = page.scroll.min(max_scroll).saturating_add_signed(by).min(max_scroll);
    }
}

/// Shows notable calls or all calls.
pub(super) fn show_calls(state: &mut TuiState, show: ListedCalls) -> Vec<TuiCommand> {
    state.calls.set_show(show);
    if state.calls.shown().len() < state.list_rows() { state.calls.fetch_older() } else { Vec::new() }
}

pub(super) fn switch_tab(state: &mut TuiState, tab: ViewTab) -> Vec<TuiCommand> {
    state.tab = tab;
    state.pages.clear();
    match tab {
        ViewTab::Statistics => {
            vec![TuiCommand::Fetch(FetchTarget::Ledger), TuiCommand::Fetch(FetchTarget::Health)]
        }
        _ => Vec::new(),
    }
}

/// Closes the open page, or clears the filter if no page is open.
fn go_back(state: &mut TuiState) {
    if state.pages.pop().is_none()
        && let Some(filter) = state.filter_mut()
    {
        filter.clear();
    }
}

pub(super) fn toggle_mode(state: &mut TuiState) -> Vec<TuiCommand> {
    if state.health.is_monitoring {
        state.prompt = Some(InputPrompt::new(PromptPurpose::Yes(UserAction::Enforce)));
        return Vec::new();
    }
    vec![TuiCommand::AskProofNeeded(UserAction::Monitor)]
}

fn handle_list_key(state: &mut TuiState, key: KeyPress) -> Vec<TuiCommand> {
    let rows = state.list_rows();
    if let Some(by) = scroll_distance(key, rows) {
        return move_selection(state, by, rows);
    }
    match (state.tab, key) {
        (ViewTab::Live | ViewTab::Sessions | ViewTab::Approvals, KeyPress::Char('/')) => {
            let text = state.filter_mut().map(std::mem::take).unwrap_or_default();
            state.prompt = Some(InputPrompt { purpose: PromptPurpose::Filter, text });
        }
        (ViewTab::Live, KeyPress::Char('n')) => {
            let show = match state.calls.show() {
                ListedCalls::Notable => ListedCalls::All,
                ListedCalls::All => ListedCalls::Notable,
            };
            return show_calls(state, show);
        }
        (ViewTab::Live, KeyPress::Enter | KeyPress::Right) => {
            if let Some(row) = state.calls.shown().selected().filter(|row| row.folded.is_none()) {
                return open_page(state, OpenPage::decision(row.seq));
            }
        }
        (ViewTab::Sessions, KeyPress::Enter | KeyPress::Right) => {
            if let Some(key) = state.sessions.selected().map(|session| session.key.clone()) {
                return open_page(state, OpenPage::session(key, state.clock.now_ms));
            }
        }
        (ViewTab::Approvals, KeyPress::Enter | KeyPress::Right | KeyPress::Char('a' | 's' | 'd')) => {
            if let Some(card) = state.approvals.selected().cloned() {
                // The page opens first, because the user must see the call before approving it.
                let commands = open_page(state, (OpenPage::approval(card), Vec::new()));
                return [commands, handle_page_key(state, key)].concat();
            }
        }
        _ => {}
    }
    Vec::new()
}

pub(super) fn move_selection(state: &mut TuiState, by: isize, rows: usize) -> Vec<TuiCommand> {
    match state.tab {
        ViewTab::Live => {
            let last = state.calls.shown_mut().move_by(by, rows);
            if last && by > 0 {
                return state.calls.fetch_older();
            }
        }
        ViewTab::Sessions => drop(state.sessions.move_by(by, rows)),
        ViewTab::Approvals => drop(state.approvals.move_by(by, rows)),
        ViewTab::Statistics => {}
    }
    Vec::new()
}

pub(super) fn open_page(
    state: &mut TuiState,
    (page, commands): (OpenPage, Vec<TuiCommand>),
) -> Vec<TuiCommand> {
    state.pages.push(page);
    commands
}

fn handle_page_key(state: &mut TuiState, key: KeyPress) -> Vec<TuiCommand> {
    if let Some(by) = scroll_distance(key, state.list_rows()) {
        scroll_page(state, by);
        return Vec::new();
    }
    let Some(page) = state.pages.last_mut() else { return Vec::new() };
    match (&mut page.open, key) {
        (PageContent::Decision { seq, proved, .. }, KeyPress::Char('p')) => {
            *proved = ProofStatus::UnderWay;
            vec![TuiCommand::Fetch(FetchTarget::Proof(*seq))]
        }
        (PageContent::Session { key, .. }, KeyPress::Char('d') | KeyPress::Enter) => {
            let key = key.clone();
            let id = key.split_once(':').map_or(key.as_str(), |(_, id)| id).to_owned();
            state.pages.clear();
            state.tab = ViewTab::Live;
            state.calls.set_show(ListedCalls::All);
            let calls = state.calls.shown_mut();
            calls.filter = id;
            calls.select_first();
            vec![TuiCommand::Fetch(FetchTarget::CallsOf(key))]
        }
        (PageContent::Approval { card, waits: true }, KeyPress::Char('a')) => {
            vec![TuiCommand::AskProofNeeded(UserAction::Approve(card.shown(), ApproveFor::Once))]
        }
        (PageContent::Approval { card, waits: true }, KeyPress::Char('s')) => {
            vec![TuiCommand::AskProofNeeded(UserAction::Approve(card.shown(), ApproveFor::Session))]
        }
        (PageContent::Approval { card, waits: true }, KeyPress::Char('d')) => {
            state.prompt = Some(InputPrompt::new(PromptPurpose::Note(card.id.clone())));
            Vec::new()
        }
        (PageContent::Draft { found: Some(found), .. }, KeyPress::Enter) => {
            let change = found.change.clone();
            if let Some(change) = change {
                state.prompt = Some(InputPrompt::new(PromptPurpose::Yes(UserAction::AddRule(change))));
            }
            Vec::new()
        }
        _ => Vec::new(),
    }
}
