// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which harnesses, when none is named.

use std::collections::BTreeSet;
use std::io::Write;

use tenterhook_harness::Harness;

use tenterhook_api::HarnessWiring;
use tenterhook_setup::detect::{DetectedHarness, detect_harnesses};

use crate::context::Context;
use crate::error::CommandError;
use crate::setup::CliHost;
use crate::terminal::{BOLD, DIM, Terminal};

/// Those that are here and can be wired: all of them, or those a person chooses.
pub(super) fn select_harnesses(context: &Context, all: bool) -> Result<Vec<&'static Harness>, CommandError> {
    let (mut known, unguardable): (Vec<_>, Vec<_>) =
        detect_harnesses(&CliHost { context, home: context.home()? }.setup())
            .into_iter()
            .partition(|one| one.state.wired != HarnessWiring::Impossible);
    // Those that are here first.
    known.sort_by_key(|one| !one.state.found);
    let here = || known.iter().filter(|one| one.state.found).map(|one| one.harness);
    if all {
        for one in unguardable.iter().filter(|one| one.state.found && !context.terminal.json) {
            context.terminal.note(&unguardable_line(one))?;
        }
        let here: Vec<_> = here().collect();
        return if here.is_empty() { Err(no_harness_error()) } else { Ok(here) };
    }
    if !Terminal::is_interactive() || context.terminal.json {
        let names: Vec<_> = here().map(|harness| harness.id).collect();
        let hint = match names.as_slice() {
            [] => "`tenterhook detect` says what is here".to_owned(),
            names => format!("name them, or use `--all`; here are: {}", names.join(", ")),
        };
        return Err(CommandError::user("no harness is named, and there is nobody to ask").hint(hint));
    }
    let chosen = ask_selection(context.terminal, &known, &unguardable)?;
    if chosen.is_empty() {
        return Err(CommandError::user("no harness was chosen; nothing is done"));
    }
    Ok(chosen.into_iter().filter_map(|index| known.get(index)).map(|one| one.harness).collect())
}

fn no_harness_error() -> CommandError {
    CommandError::not_found("no harness that can be wired was found")
        .hint("name one all the same, such as `tenterhook install claude-code`; its settings are then made")
}

/// A harness that has no hook to wire. It is shown, so that nobody takes it for guarded, and cannot be chosen.
fn unguardable_line(one: &DetectedHarness) -> String {
    let found = if one.state.found { "found" } else { "not found" };
    format!("  {DIM}[-]    {}, {found}, cannot be guarded{DIM:#}\n", one.harness.title)
}

/// A numbered list; those that are here are chosen already, unless the settings of the machine guard them.
fn ask_selection(
    terminal: Terminal,
    known: &[DetectedHarness],
    unguardable: &[DetectedHarness],
) -> Result<BTreeSet<usize>, CommandError> {
    let mut chosen: BTreeSet<usize> = known
        .iter()
        .enumerate()
        .filter(|(_, one)| one.state.found && !one.by_machine)
        .map(|(index, _)| index)
        .collect();
    loop {
        let mut text = String::from("Which agents should Tenterhook guard?\n");
        for (index, one) in known.iter().enumerate() {
            let mark = if chosen.contains(&index) { "x" } else { " " };
            let state = match (one.state.wired, one.state.found) {
                (HarnessWiring::Yes, _) if one.by_machine => ", guarded by the settings of the machine",
                (HarnessWiring::Yes, _) => ", wired",
                (HarnessWiring::Lost | HarnessWiring::Unheeded, _) => ", needs care",
                (_, true) => ", found",
                _ => ", not found",
            };
            text += &format!(
                "  [{mark}] {BOLD}{:>2}{BOLD:#} {}{DIM}{state}{DIM:#}\n",
                index + 1,
                one.harness.title
            );
        }
        text.extend(unguardable.iter().map(unguardable_line));
        text += "Press Enter to go on with the marked ones, or type numbers, `all` or `none` to change the marks: ";
        terminal.err().write_all(text.as_bytes())?;
        let mut line = String::new();
        // Nobody there any more: nothing is chosen.
        if std::io::stdin().read_line(&mut line)? == 0 {
            return Ok(BTreeSet::new());
        }
        let words: Vec<_> = line.split([' ', ',']).map(str::trim).filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            return Ok(chosen);
        }
        for word in words {
            toggle_selection(&mut chosen, known.len(), word);
        }
    }
}

/// What one word does to the choice; one that is not understood does nothing.
fn toggle_selection(chosen: &mut BTreeSet<usize>, count: usize, word: &str) {
    match (word, word.parse::<usize>()) {
        ("all", _) => *chosen = (0..count).collect(),
        ("none", _) => chosen.clear(),
        (_, Ok(number)) if (1..=count).contains(&number) && !chosen.remove(&(number - 1)) => {
            chosen.insert(number - 1);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_the_choice() {
        let mut chosen = BTreeSet::from([0]);
        for (word, expected) in [
            ("2", vec![0, 1]),
            ("1", vec![1]),
            ("9", vec![1]),
            ("x", vec![1]),
            ("all", vec![0, 1, 2]),
            ("none", vec![]),
        ] {
            toggle_selection(&mut chosen, 3, word);
            assert_eq!(chosen.iter().copied().collect::<Vec<_>>(), expected, "{word}");
        }
    }
}
