// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Selects harnesses if the command names none.

use std::collections::BTreeSet;

use tenterhook_harness::Harness;

use tenterhook_api::HarnessWiring;
use tenterhook_setup::detect::{DetectedHarness, detect_harnesses};

use super::choices::{ChoiceAnswer, ChoiceList};
use crate::context::Context;
use crate::error::CommandError;
use crate::setup::CliHost;
use crate::terminal::{DIM, Terminal};

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
            [] => "`tenterhook install --list` lists the harnesses on this machine".to_owned(),
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
    let preselected = known.iter().enumerate().filter(|(_, one)| one.state.found && !one.by_machine);
    let preselected = preselected.map(|(index, _)| index).collect();
    let list = ChoiceList {
        question: "Which agents should Tenterhook guard?".to_owned(),
        rows: known
            .iter()
            .map(|one| (one.harness.title.to_owned(), describe_state(one).to_owned()))
            .collect(),
        footer: unguardable.iter().map(unguardable_line).collect(),
        is_single: false,
        can_leave: false,
    };
    match list.ask(terminal, preselected)? {
        ChoiceAnswer::Chosen(selected) => Ok(selected),
        ChoiceAnswer::Skip | ChoiceAnswer::Quit => Ok(BTreeSet::new()),
    }
}

/// Describes the state of a harness that can be guarded.
fn describe_state(one: &DetectedHarness) -> &'static str {
    match (one.state.wired, one.state.found) {
        (HarnessWiring::Yes, _) if one.by_machine => ", guarded by machine-wide settings",
        (HarnessWiring::Yes, _) => ", guarded",
        (HarnessWiring::Lost | HarnessWiring::Unheeded, _) => ", hooks do not run",
        (_, true) => ", found",
        _ => ", not found",
    }
}
