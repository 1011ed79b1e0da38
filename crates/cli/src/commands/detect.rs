// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use tenterhook_api::{HarnessList, HarnessWiring};
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_setup::detect::{DetectedHarness, detect_harnesses};

use crate::context::Context;
use crate::error::CommandError;
use crate::setup::CliHost;
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN};

const EXAMPLES: &str = "\
Looks for programs on your PATH and for the files of each harness in your home directory. Nothing is run.

Examples:
  tenterhook install --list
  tenterhook install --list --json";

/// List the harnesses on this machine, and whether they are guarded
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(super) fn run(context: &Context, _args: &Args) -> Result<ExitCode, CommandError> {
    let all = detect_harnesses(&CliHost { context, home: context.home()? }.setup());
    if context.terminal.json {
        let harnesses = all.into_iter().map(|one| one.state).collect();
        context.terminal.print_json(&HarnessList { harnesses })?;
        return Ok(ExitCode::SUCCESS);
    }
    // Settings that two harnesses share are counted for the harness that they are written for.
    let is_own = |one: &DetectedHarness| {
        one.harness.installer().is_some_and(|installer| installer.wired_as == one.harness.id)
            && one.state.wired != HarnessWiring::No
    };
    let (here, missing): (Vec<_>, Vec<_>) =
        all.iter().partition(|one| one.state.found || is_own(one) || one.state.last_heard.is_some());
    let mut text: String = here.iter().map(|one| harness_line(one)).collect();
    if here.is_empty() {
        text += "no supported harness was found\n";
    }
    let names: Vec<_> = missing.iter().map(|one| one.harness.id).collect();
    if !names.is_empty() {
        text += &format!("{DIM}not found: {}{DIM:#}\n", names.join(", "));
    }
    if here.iter().any(|one| one.state.wired == HarnessWiring::No) {
        text += &format!("{DIM}guard all harnesses on this machine: `tenterhook install --all`{DIM:#}\n");
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn harness_line(one: &DetectedHarness) -> String {
    let (mark, style, status) = match one.state.wired {
        HarnessWiring::Yes => ("✓", GOOD, "is guarded"),
        HarnessWiring::No => ("!", WARN, "is not guarded"),
        HarnessWiring::Lost => ("✗", BAD, "is not guarded any more: its hooks were changed or removed"),
        HarnessWiring::Unheeded => ("✗", BAD, "has hooks, but does not run them"),
        HarnessWiring::Impossible => ("–", DIM, "cannot be guarded"),
    };
    let version = one.state.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let scope = if one.state.scopes.is_empty() {
        String::new()
    } else {
        format!(" ({})", one.state.scopes.join(", "))
    };
    let last_event = match (&one.state.last_heard, one.state.wired) {
        (Some(last_event), _) => format!(", last event {} (record {})", last_event.ts, last_event.seq),
        (None, HarnessWiring::Yes | HarnessWiring::Unheeded | HarnessWiring::Lost) if !one.by_machine => {
            ", no event yet".to_owned()
        }
        (None, _) => String::new(),
    };
    let mut text = format!(
        "{style}{mark}{style:#} {BOLD}{}{BOLD:#}{version} {status}{scope}{last_event}\n",
        one.state.title
    );
    let place = one.state.program.as_ref().or(one.state.directory.as_ref());
    if let Some(place) = place {
        text += &format!("  {DIM}{} · {}{DIM:#}\n", one.harness.id, place);
    }
    for note in &one.state.notes {
        text += &format!("  {DIM}→ {note}{DIM:#}\n");
    }
    text
}
