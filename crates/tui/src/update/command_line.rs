// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The command line, which `:` opens.

use super::call_actions::handle_call_key;
use super::keys::{open_page, show_calls, switch_tab, toggle_mode};
use crate::key_press::KeyPress;
use crate::message::{ExplainSubject, ListedCalls, TuiCommand};
use crate::state::{OpenPage, TuiState, ViewTab};

/// All commands: name, argument, description.
pub(crate) const COMMANDS: &[(&str, &str, &str)] = &[
    ("all", "", "list all calls"),
    ("allow", "", "allow the shown call to run once"),
    ("approvals", "", "switch to approvals"),
    ("block", "", "deny calls like the shown one"),
    ("copy", "", "copy the shown call"),
    ("explain", "COMMAND", "explain what the rules decide about a command, or about the shown call"),
    ("filter", "WORDS", "list only rows that contain all words"),
    ("help", "", "show all keys"),
    ("live", "", "switch to live calls"),
    ("mode", "", "switch enforce/monitor mode"),
    ("notable", "", "list calls that were asked about, denied, rewritten, or failed"),
    ("quit", "", "quit"),
    ("record", "NUMBER", "open a record of the ledger"),
    ("session", "HARNESS:ID", "open a session"),
    ("sessions", "", "switch to sessions"),
    ("statistics", "", "switch to statistics"),
    ("undo", "", "undo the shown call"),
];

/// Completes the command's name as far as it is unambiguous.
pub(super) fn complete(text: &str) -> String {
    let matching: Vec<&str> = names().filter(|name| name.starts_with(text)).collect();
    match matching.as_slice() {
        [] => text.to_owned(),
        [name] => {
            let takes_argument =
                COMMANDS.iter().any(|(known, argument, _)| known == name && !argument.is_empty());
            if takes_argument { format!("{name} ") } else { (*name).to_owned() }
        }
        [first, rest @ ..] => {
            let common = |other: &&str| first.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
            let length = rest.iter().map(common).min().unwrap_or_default();
            first.chars().take(length).collect()
        }
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|(name, _, _)| *name)
}

/// Runs a command. A name may be shortened as long as it is unambiguous.
pub(super) fn run_command(state: &mut TuiState, text: &str) -> Vec<TuiCommand> {
    let (word, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let argument = argument.trim();
    if word.is_empty() {
        return Vec::new();
    }
    let shortened: Vec<&str> = names().filter(|name| name.starts_with(word)).collect();
    let name = match (names().find(|name| *name == word), shortened.as_slice()) {
        (Some(name), _) => name,
        (None, [name]) => *name,
        (None, []) => {
            state.notify(false, format!("unknown command `{word}`; `:help` lists the commands"));
            return Vec::new();
        }
        (None, several) => {
            state.notify(false, format!("`{word}` is ambiguous: {}", several.join(", ")));
            return Vec::new();
        }
    };
    match name {
        "live" => switch_tab(state, ViewTab::Live),
        "sessions" => switch_tab(state, ViewTab::Sessions),
        "approvals" => switch_tab(state, ViewTab::Approvals),
        "statistics" => switch_tab(state, ViewTab::Statistics),
        "notable" => list_calls(state, ListedCalls::Notable),
        "all" => list_calls(state, ListedCalls::All),
        "mode" => toggle_mode(state),
        "quit" => vec![TuiCommand::Quit],
        "explain" if !argument.is_empty() => {
            open_page(state, OpenPage::explanation(ExplainSubject::Command(argument.to_owned())))
        }
        "filter" => filter_rows(state, argument),
        "record" => open_record(state, argument),
        "session" => open_session(state, argument),
        "help" => {
            state.help = true;
            Vec::new()
        }
        of_call => act_on_call(state, of_call),
    }
}

fn list_calls(state: &mut TuiState, show: ListedCalls) -> Vec<TuiCommand> {
    let mut commands = switch_tab(state, ViewTab::Live);
    commands.extend(show_calls(state, show));
    commands
}

/// Runs a command that does the same as a key.
fn act_on_call(state: &mut TuiState, name: &str) -> Vec<TuiCommand> {
    let key = match name {
        "allow" => 'a',
        "block" => 'b',
        "copy" => 'y',
        "explain" => 'e',
        _ => 'u',
    };
    handle_call_key(state, KeyPress::Char(key)).unwrap_or_else(|| {
        state.notify(false, format!("`{name}` needs a call: select one in the live view"));
        Vec::new()
    })
}

fn filter_rows(state: &mut TuiState, words: &str) -> Vec<TuiCommand> {
    state.pages.clear();
    match state.filter_mut() {
        Some(filter) => words.clone_into(filter),
        None => state.notify(false, "this view has no list"),
    }
    Vec::new()
}

fn open_record(state: &mut TuiState, argument: &str) -> Vec<TuiCommand> {
    if let Ok(seq) = argument.trim_start_matches('#').parse() {
        return open_page(state, OpenPage::decision(seq));
    }
    state.notify(false, "`record` needs the number of a record");
    Vec::new()
}

fn open_session(state: &mut TuiState, argument: &str) -> Vec<TuiCommand> {
    let known = state.sessions.find_key(argument);
    let Some(key) = known.or_else(|| argument.contains(':').then(|| argument.to_owned())) else {
        state.notify(false, format!("unknown session `{argument}`"));
        return Vec::new();
    };
    let now = state.clock.now_ms;
    open_page(state, OpenPage::session(key, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_sorted_and_completed_as_far_as_they_are_unambiguous() {
        assert!(COMMANDS.is_sorted());
        assert_eq!(
            [complete("q"), complete("al"), complete("exp"), complete("x")],
            ["quit", "all", "explain ", "x"]
        );
        assert_eq!(complete("se"), "session", "two commands begin like this");
    }
}
