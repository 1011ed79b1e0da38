// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;
use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_harness_install::Found;
use tenterhook_harness_install::HarnessClient as _;

use super::wiring::{self, Heard, MACHINE_SCOPE, Wired};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN};

const EXAMPLES: &str = "\
Looked at are the programs on your PATH and what each harness leaves in your home. Nothing is run.

Examples:
  tenterhook detect
  tenterhook detect --json";

/// Say which harnesses are here, which are guarded, and when each was last heard of
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

/// How one harness stands.
#[derive(Debug, Serialize)]
pub(super) struct Detected {
    #[serde(skip)]
    pub(super) harness: &'static Harness,
    #[serde(rename = "harness")]
    id: &'static str,
    title: &'static str,
    pub(super) found: bool,
    program: Option<std::path::PathBuf>,
    directory: Option<std::path::PathBuf>,
    version: Option<String>,
    /// Versions the wiring was proved on.
    proved_on: &'static [&'static str],
    pub(super) wired: Wiring,
    /// Where.
    scopes: Vec<String>,
    /// Whether only the settings of the machine guard it: its events are recorded in the machine's ledger.
    #[serde(skip)]
    pub(super) by_machine: bool,
    last_heard: Option<Heard>,
    /// Why it cannot be guarded, or is not.
    notes: Vec<String>,
}

/// Whether our hooks are in a harness's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Wiring {
    Yes,
    No,
    /// They were, and somebody changed or removed them.
    Lost,
    /// They are, and the harness does not heed them yet.
    Unheeded,
    /// There is no way.
    Impossible,
}

pub(super) fn run(context: &Context, _args: &Args) -> Result<ExitCode, CommandError> {
    let all = all(context)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"harnesses": all}))?;
        return Ok(ExitCode::SUCCESS);
    }
    // A configuration that two share speaks for the one it is written for.
    let is_own = |one: &Detected| {
        one.harness.installer().is_some_and(|installer| installer.wired_as == one.id)
            && one.wired != Wiring::No
    };
    let (here, missing): (Vec<_>, Vec<_>) =
        all.iter().partition(|one| one.found || is_own(one) || one.last_heard.is_some());
    let mut text: String = here.iter().map(|one| line(one)).collect();
    if here.is_empty() {
        text += "no harness that Tenterhook knows was found\n";
    }
    let names: Vec<_> = missing.iter().map(|one| one.id).collect();
    if !names.is_empty() {
        text += &format!("{DIM}not here: {}{DIM:#}\n", names.join(", "));
    }
    if here.iter().any(|one| one.wired == Wiring::No) {
        text += &format!("{DIM}guard all that are here with `tenterhook install --all`{DIM:#}\n");
    }
    context.terminal.say(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Every harness of the table.
pub(super) fn all(context: &Context) -> Result<Vec<Detected>, CommandError> {
    HARNESSES.iter().map(|harness| look(context, harness)).collect()
}

fn look(context: &Context, harness: &'static Harness) -> Result<Detected, CommandError> {
    let home = context.home()?;
    let found = tenterhook_harness_install::detect(harness, &context.env.ground());
    let is_found = found.is_some();
    let Found { program, trace, version } = found.unwrap_or_default();
    let (wired, scopes, mut notes) = wiring_of(context, harness);
    notes.extend(wiring::version_gaps(harness, version.as_deref()));
    Ok(Detected {
        harness,
        id: harness.id,
        title: harness.title,
        found: is_found,
        program,
        directory: trace,
        version,
        proved_on: harness.proved_on,
        wired,
        by_machine: home.machine().is_none() && scopes == [MACHINE_SCOPE],
        scopes,
        last_heard: wiring::last_heard(home, harness),
        notes,
    })
}

fn wiring_of(context: &Context, harness: &'static Harness) -> (Wiring, Vec<String>, Vec<String>) {
    let (Some(installer), Ok(home)) = (harness.installer(), context.home()) else {
        let why = wiring::unheard(harness).map(|why| format!("calls no hook: {why}"));
        return (Wiring::Impossible, Vec::new(), why.into_iter().collect());
    };
    let (mut wired, mut scopes, mut notes) = (Wiring::No, Vec::new(), Vec::new());
    let asked = wiring::asked(home, installer);
    if asked.is_empty()
        && let Some(hooks) = wiring::machine_hooks(context, harness)
    {
        let wired = if hooks.in_force { Wiring::Yes } else { Wiring::Unheeded };
        return (wired, vec![MACHINE_SCOPE.to_owned()], hooks.notes);
    }
    for asked in asked {
        scopes.push(wiring::scope_name(&asked.scope));
        let (standing, more) = match wiring::wired(context, harness, &asked) {
            Ok(Wired::Well(plan)) if plan.in_force && plan.pending.is_empty() => (Wiring::Yes, plan.notes),
            Ok(Wired::Well(plan)) => (Wiring::Unheeded, [plan.notes, plan.pending].concat()),
            Ok(Wired::Lost(plan)) => (Wiring::Lost, plan.notes),
            Err(error) => (Wiring::Lost, vec![error.message]),
        };
        notes.extend(more);
        // The worst of them is the one to look at.
        if wired == Wiring::No || standing != Wiring::Yes {
            wired = standing;
        }
    }
    (wired, scopes, notes)
}

fn line(one: &Detected) -> String {
    let (mark, style, says) = match one.wired {
        Wiring::Yes => ("✓", GOOD, "is guarded"),
        Wiring::No => ("!", WARN, "is not guarded"),
        Wiring::Lost => ("✗", BAD, "is no longer as it was wired"),
        Wiring::Unheeded => ("✗", BAD, "is wired, but does not heed it"),
        Wiring::Impossible => ("–", DIM, "cannot be guarded"),
    };
    let version = one.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let scope = if one.scopes.is_empty() { String::new() } else { format!(" ({})", one.scopes.join(", ")) };
    let heard = match (&one.last_heard, one.wired) {
        (Some(heard), _) => format!(", last heard of {} (leaf {})", heard.ts, heard.seq),
        (None, Wiring::Yes | Wiring::Unheeded | Wiring::Lost) if !one.by_machine => {
            ", never heard of".to_owned()
        }
        (None, _) => String::new(),
    };
    let mut text =
        format!("{style}{mark}{style:#} {BOLD}{}{BOLD:#}{version} {says}{scope}{heard}\n", one.title);
    let place = one.program.as_ref().or(one.directory.as_ref());
    if let Some(place) = place {
        text += &format!("  {DIM}{} · {}{DIM:#}\n", one.id, place.display());
    }
    for note in &one.notes {
        text += &format!("  {DIM}→ {note}{DIM:#}\n");
    }
    text
}
