// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is around: the tabs above, one line below, the keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::theme::Theme;
use super::words;
use crate::plain;
use crate::prompt::Asks;
use crate::state::{Link, Open, State, Tab};

pub(super) fn tabs(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let mut spans = vec![Span::styled("Tenterhook ", theme.bold())];
    for (number, tab) in (1..).zip(Tab::ALL) {
        let waiting = state.approvals.len();
        let name = match tab {
            Tab::Approvals if waiting > 0 => format!(" {number} {} ({waiting}) ", tab.name()),
            _ => format!(" {number} {} ", tab.name()),
        };
        let style = match tab {
            tab if tab == state.tab => theme.chosen(),
            Tab::Approvals if waiting > 0 => theme.warn(),
            _ => theme.dim(),
        };
        spans.push(Span::styled(name, style));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
    let (text, style) = match (&state.link, state.health.monitors) {
        (Link::Begins, _) => ("…", theme.dim()),
        (Link::Down(..), _) => ("○ no daemon", theme.bad()),
        (Link::Up, true) => ("● MONITOR", theme.warn()),
        (Link::Up, false) => ("● enforce", theme.good()),
    };
    frame.render_widget(Paragraph::new(Line::from(Span::styled(text, style)).right_aligned()), area);
}

/// The head of what is open.
pub(super) fn title(text: String, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    frame.render_widget(Paragraph::new(Line::from(Span::styled(text, theme.bold()))), area);
}

/// What is typed, what became of something, or what there is to know.
pub(super) fn below(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let width = usize::from(area.width);
    if let Some(prompt) = &state.prompt {
        let question = prompt.question();
        // The end of what is typed is where somebody types; a code is nobody else's.
        let typed = match prompt.asks {
            Asks::Code(_) => "*".repeat(prompt.text.chars().count()),
            _ => prompt.text.clone(),
        };
        let typed = plain::fit_end(&typed, width.saturating_sub(question.width() + 1));
        let style = if matches!(prompt.asks, Asks::Filter) { theme.accent() } else { theme.warn() };
        let line = vec![Span::styled(question, style), Span::raw(typed), Span::styled(" ", theme.chosen())];
        frame.render_widget(Paragraph::new(Line::from(line)), area);
        return;
    }
    let (text, style) = match (&state.notice, &state.link) {
        (Some(notice), _) if notice.good => (format!("✓ {}", notice.text), theme.good()),
        (Some(notice), _) => (notice.text.clone(), theme.warn()),
        (None, Link::Down(why, since)) => {
            let since = words::time(*since, state.clock);
            (format!("no daemon since {since}, we try again (`tenterhook start`): {why}"), theme.bad())
        }
        (None, _) => (standing(state), theme.dim()),
    };
    frame.render_widget(Paragraph::new(Span::styled(plain::fit(&text, width), style)), area);
}

/// Where in a list somebody is.
fn standing(state: &State) -> String {
    if !state.pages.is_empty() {
        return match super::scrolls(state) {
            0 => String::new(),
            below => {
                let scroll = state.pages.last().map_or(0, |page| page.scroll).min(below);
                format!("{} % · ↑↓ scroll", scroll * 100 / below)
            }
        };
    }
    let (place, filter, follows) = match state.tab {
        Tab::Live => (state.feed.place(), &state.feed.filter, state.feed.follows()),
        Tab::Sessions => (state.sessions.place(), &state.sessions.filter, false),
        Tab::Approvals => (state.approvals.place(), &state.approvals.filter, false),
        Tab::Statistics => return troubles(state),
    };
    let (at, of) = place;
    let mut text = if of == 0 { "nothing".to_owned() } else { format!("{at} of {of}") };
    if follows && of > 0 {
        text.push_str(" · live");
    }
    if !filter.is_empty() {
        text = format!("{text} · filter: {filter} (esc: all)");
    }
    if state.missed > 0 && state.tab == Tab::Live {
        text = format!("{text} · {} told too fast for us", words::count(state.missed));
    }
    text
}

fn troubles(state: &State) -> String {
    match state.health.troubles.len() {
        0 => String::new(),
        1 => "1 problem".to_owned(),
        more => format!("{more} problems"),
    }
}

pub(super) fn keys(state: &State, theme: Theme, frame: &mut Frame<'_>, area: Rect) {
    let mut spans = Vec::new();
    for (key, what) in known(state) {
        spans.push(Span::styled(format!(" {key} "), theme.chosen()));
        spans.push(Span::styled(format!(" {what}  "), theme.dim()));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

/// The keys that do something here.
fn known(state: &State) -> Vec<(&'static str, &'static str)> {
    if let Some(prompt) = &state.prompt {
        return match prompt.asks {
            Asks::Yes(_) => vec![("y", "yes"), ("esc", "no")],
            Asks::Filter => vec![("enter", "keep"), ("esc", "clear")],
            _ => vec![("enter", "go on"), ("esc", "cancel"), ("↑↓", "read on")],
        };
    }
    if state.help {
        return vec![("any key", "back"), ("q", "quit")];
    }
    let last = [("?", "help"), ("q", "quit")];
    let here: &[(&str, &str)] = match state.pages.last().map(|page| &page.open) {
        Some(Open::Decision { .. }) => &[("esc", "back"), ("↑↓", "scroll"), ("p", "proof"), ("s", "session")],
        Some(Open::Session { .. }) => &[("esc", "back"), ("↑↓", "scroll"), ("d", "decisions")],
        Some(Open::Approval { waits: true, .. }) => {
            &[("a", "approve once"), ("s", "for session"), ("d", "deny"), ("esc", "back")]
        }
        Some(Open::Approval { waits: false, .. }) => &[("esc", "back")],
        None => match state.tab {
            Tab::Live | Tab::Sessions => {
                &[("1-4", "views"), ("↑↓", "choose"), ("enter", "open"), ("/", "filter"), ("m", "mode")]
            }
            Tab::Approvals => {
                &[("a", "approve once"), ("s", "for session"), ("d", "deny"), ("enter", "open")]
            }
            Tab::Statistics => &[("1-4", "views"), ("m", "mode")],
        },
    };
    here.iter().copied().chain(last).collect()
}
