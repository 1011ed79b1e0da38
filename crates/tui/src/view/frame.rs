// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Draws the frame around the content: tabs, status line and key hints.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::format;
use super::theme::Theme;
use crate::input_prompt::PromptPurpose;
use crate::message::ListedCalls;
use crate::plain;
use crate::state::{DaemonLink, PageContent, TuiState, ViewTab};

/// Name of the program before the tabs.
const PROGRAM: &str = "Tenterhook ";

pub(super) fn draw_tabs(state: &TuiState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let mut spans = vec![Span::styled(PROGRAM, theme.bold())];
    for (tab, name) in tab_labels(state) {
        let style = match tab {
            ViewTab::Approvals if !state.approvals.is_empty() => theme.alert(tab == state.tab),
            tab if tab == state.tab => theme.chosen(),
            _ => theme.dim(),
        };
        spans.push(Span::styled(name, style));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
    let (text, style) = match (&state.link, state.health.is_monitoring) {
        (DaemonLink::Connecting, _) => ("…", theme.dim()),
        (DaemonLink::Down(..), _) => ("○ no daemon", theme.bad()),
        (DaemonLink::Up, true) => ("● MONITOR", theme.warn()),
        (DaemonLink::Up, false) => ("● enforce", theme.good()),
    };
    frame.render_widget(Paragraph::new(Line::from(Span::styled(text, style)).right_aligned()), area);
}

/// Returns the tabs with their labels.
fn tab_labels(state: &TuiState) -> impl Iterator<Item = (ViewTab, String)> {
    let waiting = state.approvals.len();
    (1..).zip(ViewTab::ALL).map(move |(number, tab)| match tab {
        ViewTab::Approvals if waiting > 0 => (tab, format!(" {number} {} ({waiting}) ", tab.name())),
        _ => (tab, format!(" {number} {} ", tab.name())),
    })
}

/// Returns the tab in a column of the first row.
pub(super) fn tab_at(state: &TuiState, column: u16) -> Option<ViewTab> {
    let mut end = PROGRAM.width();
    let column = usize::from(column);
    if column < end {
        return None;
    }
    tab_labels(state).find_map(|(tab, label)| {
        end += label.width();
        (column < end).then_some(tab)
    })
}

/// Draws the title of the open page.
pub(super) fn draw_title(text: String, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    frame.render_widget(Paragraph::new(Line::from(Span::styled(text, theme.bold()))), area);
}

/// Draws the status line: the input prompt, the last notice, or the position in the list.
pub(super) fn draw_status_line(state: &TuiState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let width = usize::from(area.width);
    if let Some(prompt) = &state.prompt {
        let question = prompt.question();
        // Shows the end of the input, where the user types. Codes are masked.
        let typed = match prompt.purpose {
            PromptPurpose::Code(_) => "*".repeat(prompt.text.chars().count()),
            _ => prompt.text.clone(),
        };
        let typed = plain::truncate_start(&typed, width.saturating_sub(question.width() + 1));
        let is_plain = matches!(prompt.purpose, PromptPurpose::Filter | PromptPurpose::Command);
        let style = if is_plain { theme.accent() } else { theme.warn() };
        let line = vec![Span::styled(question, style), Span::raw(typed), Span::styled(" ", theme.chosen())];
        frame.render_widget(Paragraph::new(Line::from(line)), area);
        return;
    }
    let (text, style) = match (&state.notice, &state.link) {
        (Some(notice), _) if notice.good => (format!("✓ {}", notice.text), theme.good()),
        (Some(notice), _) => (notice.text.clone(), theme.warn()),
        (None, DaemonLink::Down(why, since)) => {
            let since = format::clock_time(*since, state.clock);
            (format!("no daemon since {since}, retrying; run `tenterhook start`: {why}"), theme.bad())
        }
        (None, _) => (position_text(state), theme.dim()),
    };
    frame.render_widget(Paragraph::new(Span::styled(plain::truncate(&text, width), style)), area);
}

/// Formats the position in the list or page, and the filter.
fn position_text(state: &TuiState) -> String {
    if state.help {
        return String::new();
    }
    if !state.pages.is_empty() {
        return match super::max_scroll(state) {
            0 => String::new(),
            below => {
                let scroll = state.pages.last().map_or(0, |page| page.scroll).min(below);
                format!("{} % · ↑↓ scroll", scroll * 100 / below)
            }
        };
    }
    let (position, filter, follows) = match state.tab {
        ViewTab::Live => {
            let calls = state.calls.shown();
            (calls.position(), &calls.filter, calls.follows_first())
        }
        ViewTab::Sessions => (state.sessions.position(), &state.sessions.filter, false),
        ViewTab::Approvals => (state.approvals.position(), &state.approvals.filter, false),
        ViewTab::Statistics => return problem_count_text(state),
    };
    let (at, of) = position;
    let mut text = if of == 0 { "empty".to_owned() } else { format!("{at} of {of}") };
    if state.tab == ViewTab::Live {
        text.push_str(match state.calls.show() {
            ListedCalls::Notable => " · notable calls",
            ListedCalls::All => " · all calls",
        });
    }
    if follows && of > 0 {
        text.push_str(" · live");
    }
    if !filter.is_empty() {
        text = format!("{text} · filter: {filter} (esc clears)");
    }
    if state.missed > 0 && state.tab == ViewTab::Live {
        text = format!("{text} · {} events missed", format::format_count(state.missed));
    }
    text
}

fn problem_count_text(state: &TuiState) -> String {
    match state.health.problems.len() {
        0 => String::new(),
        1 => "1 problem".to_owned(),
        more => format!("{more} problems"),
    }
}

pub(super) fn draw_key_hints(state: &TuiState, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let hints = key_hints(state);
    let width_of = |(key, effect): &(&str, &str)| key.width() + effect.width() + 5;
    // Help and quit are always shown; of the others, those that fit.
    let last: usize = hints.iter().rev().take(2).map(width_of).sum();
    let mut room = usize::from(area.width + 2).saturating_sub(last);
    let (total, mut spans) = (hints.len(), Vec::new());
    for (at, hint) in hints.into_iter().enumerate() {
        if at + 2 < total {
            let Some(rest) = room.checked_sub(width_of(&hint)) else { continue };
            room = rest;
        }
        let (key, effect) = hint;
        spans.push(Span::styled(format!(" {key} "), theme.chosen()));
        spans.push(Span::styled(format!(" {effect}  "), theme.dim()));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

/// Returns the keys that work in the current view, with their effects.
fn key_hints(state: &TuiState) -> Vec<(&'static str, &'static str)> {
    if let Some(prompt) = &state.prompt {
        return match prompt.purpose {
            PromptPurpose::Yes(_) => vec![("y", "yes"), ("esc", "no")],
            PromptPurpose::Filter => vec![("enter", "apply"), ("esc", "clear")],
            PromptPurpose::Command => vec![("enter", "run"), ("tab", "complete"), ("esc", "cancel")],
            _ => vec![("enter", "confirm"), ("esc", "cancel"), ("↑↓", "scroll")],
        };
    }
    if state.help {
        return vec![("any key", "back"), ("q", "quit")];
    }
    let last = [("?", "help"), ("q", "quit")];
    let is_notable = state.calls.show() == ListedCalls::Notable;
    let here: &[(&str, &str)] = match state.pages.last().map(|page| &page.open) {
        Some(PageContent::Decision { .. }) => &[
            ("esc", "back"),
            ("p", "proof"),
            ("b", "block"),
            ("a", "allow"),
            ("u", "undo"),
            ("e", "explain"),
            ("y", "copy"),
            ("s", "session"),
        ],
        Some(PageContent::Session { .. }) => {
            &[("esc", "back"), ("↑↓", "scroll"), ("d", "calls"), ("u", "undo"), ("y", "copy id")]
        }
        Some(PageContent::Approval { waits: true, .. }) => {
            &[("a", "approve once"), ("s", "for session"), ("d", "deny"), ("esc", "back")]
        }
        Some(PageContent::Draft { .. }) => &[("enter", "add the rule"), ("y", "copy"), ("esc", "back")],
        Some(PageContent::Approval { waits: false, .. } | PageContent::Explanation { .. }) => {
            &[("esc", "back"), ("↑↓", "scroll")]
        }
        None => match state.tab {
            ViewTab::Live => &[
                ("enter", "open"),
                ("/", "filter"),
                ("n", if is_notable { "all" } else { "notable" }),
                ("b", "block"),
                ("a", "allow"),
                (":", "command"),
                ("u", "undo"),
                ("e", "explain"),
                ("y", "copy"),
            ],
            ViewTab::Sessions => &[("1-4", "views"), ("enter", "open"), ("/", "filter"), (":", "command")],
            ViewTab::Approvals => {
                &[("a", "approve once"), ("s", "for session"), ("d", "deny"), ("enter", "open")]
            }
            ViewTab::Statistics => &[("1-4", "views"), ("m", "mode"), (":", "command")],
        },
    };
    here.iter().copied().chain(last).collect()
}
