// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Selects harnesses if the command names none.

use std::collections::BTreeSet;
use std::io::Write;

use tenterhook_harness::Harness;

use tenterhook_api::HarnessWiring;
use tenterhook_setup::detect::{DetectedHarness, detect_harnesses};

use crate::context::Context;
use crate::error::CommandError;
use crate::setup::CliHost;
use crate::terminal::{BOLD, DIM, Terminal};

/// Returns harnesses on this machine that can be guarded: all of them, or those that the user chooses.
pub(super) fn select_harnesses(context: &Context, all: bool) -> Result<Vec<&'static Harness>, CommandError> {
    let (mut known, unguardable): (Vec<_>, Vec<_>) =
        detect_harnesses(&CliHost { context, home: context.home()? }.setup())
            .into_iter()
            .partition(|one| one.state.wired != HarnessWiring::Impossible);
    // Harnesses on this machine come first.
    known.sort_by_key(|one| !one.state.found);
    let here = || known.iter().filter(|one| one.state.found).map(|one| one.harness);
    if all {
        for one in unguardable.iter().filter(|one| one.state.found && !context.terminal.json) {
            context.terminal.eprint(&unguardable_line(one))?;
        }
        let here: Vec<_> = here().collect();
        return if here.is_empty() { Err(no_harness_error()) } else { Ok(here) };
    }
    if !Terminal::is_interactive() || context.terminal.json {
        let names: Vec<_> = here().map(|harness| harness.id).collect();
        let hint = match names.as_slice() {
            [] => "`tenterhook detect` lists the harnesses on this machine".to_owned(),
            names => format!("name them, or use `--all`; found: {}", names.join(", ")),
        };
        return Err(CommandError::user("no harness named, and standard input is not a terminal").hint(hint));
    }
    let selected = ask_selection(context.terminal, &known, &unguardable)?;
    if selected.is_empty() {
        return Err(CommandError::user("no harness selected; nothing was changed"));
    }
    Ok(selected.into_iter().filter_map(|index| known.get(index)).map(|one| one.harness).collect())
}

fn no_harness_error() -> CommandError {
    CommandError::not_found("no harness found that can be guarded")
        .hint("to create its settings all the same, name it: `tenterhook install claude-code`")
}

/// Formats a harness that cannot be guarded. It is listed, so that users do not assume that it is guarded.
fn unguardable_line(one: &DetectedHarness) -> String {
    let found = if one.state.found { "found" } else { "not found" };
    format!("  {DIM}[-]    {}, {found}, cannot be guarded{DIM:#}\n", one.harness.title)
}

/// Reads a selection. The harnesses on this machine that machine-wide settings do not guard are preselected.
fn ask_selection(
    terminal: Terminal,
    known: &[DetectedHarness],
    unguardable: &[DetectedHarness],
) -> Result<BTreeSet<usize>, CommandError> {
    let mut selected: BTreeSet<usize> = known
        .iter()
        .enumerate()
        .filter(|(_, one)| one.state.found && !one.by_machine)
        .map(|(index, _)| index)
        .collect();
    loop {
        let mut text = String::from("Which agents should Tenterhook guard?\n");
        for (index, one) in known.iter().enumerate() {
            let mark = if selected.contains(&index) { "x" } else { " " };
            let state = match (one.state.wired, one.state.found) {
                (HarnessWiring::Yes, _) if one.by_machine => ", guarded by machine-wide settings",
                (HarnessWiring::Yes, _) => ", guarded",
                (HarnessWiring::Lost | HarnessWiring::Unheeded, _) => ", hooks do not run",
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
        text += "Press Enter to continue with the marked ones, or type numbers, `all` or `none` to change the marks: ";
        terminal.stderr().write_all(text.as_bytes())?;
        let mut line = String::new();
        // At the end of the input, nothing is selected.
        if std::io::stdin().read_line(&mut line)? == 0 {
            return Ok(BTreeSet::new());
        }
        let words: Vec<_> = line.split([' ', ',']).map(str::trim).filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            return Ok(selected);
        }
        for word in words {
            toggle_selection(&mut selected, known.len(), word);
        }
    }
}

/// Applies one typed word to the selection; an unknown word is ignored.
fn toggle_selection(selected: &mut BTreeSet<usize>, count: usize, word: &str) {
    match (word, word.parse::<usize>()) {
        ("all", _) => *selected = (0..count).collect(),
        ("none", _) => selected.clear(),
        (_, Ok(number)) if (1..=count).contains(&number) && !selected.remove(&(number - 1)) => {
            selected.insert(number - 1);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_the_selection() {
        let mut selected = BTreeSet::from([0]);
        for (word, expected) in [
            ("2", vec![0, 1]),
            ("1", vec![1]),
            ("9", vec![1]),
            ("x", vec![1]),
            ("all", vec![0, 1, 2]),
            ("none", vec![]),
        ] {
            toggle_selection(&mut selected, 3, word);
            assert_eq!(selected.iter().copied().collect::<Vec<_>>(), expected, "{word}");
        }
    }
}
