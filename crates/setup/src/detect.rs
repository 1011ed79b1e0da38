// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which harnesses are on this machine, whether our hooks are in their settings, and their last event.

use tenterhook_api::{AskEffect, DenyEffect, EventCoverage, EventWiring, HarnessState, HarnessWiring};
use tenterhook_harness::{Ask, Deny, EventRow, HARNESSES, Harness, Rewrite, Wiring};
use tenterhook_harness_install::{Found, HarnessClient as _, detect};

use crate::Setup;
use crate::wiring::{self, MACHINE_SCOPE, Wired};

/// A harness of the table, and its state on this machine.
#[derive(Debug)]
pub struct DetectedHarness {
    /// The harness.
    pub harness: &'static Harness,
    /// Whether only the settings of the machine guard it: its events are recorded in the machine's ledger.
    pub by_machine: bool,
    /// Its state.
    pub state: HarnessState,
}

/// Looks at every harness of the table. No program is run.
pub fn detect_harnesses(setup: &Setup<'_>) -> Vec<DetectedHarness> {
    HARNESSES.iter().map(|harness| detect_harness(setup, harness)).collect()
}

fn detect_harness(setup: &Setup<'_>, harness: &'static Harness) -> DetectedHarness {
    let found = detect(harness, &setup.env.ground());
    let is_found = found.is_some();
    let Found { program, trace, version } = found.unwrap_or_default();
    let (wired, scopes, mut notes) = state_of_hooks(setup, harness);
    notes.extend(wiring::version_gaps(harness, version.as_deref()));
    let by_machine = setup.home.machine().is_none() && scopes == [MACHINE_SCOPE];
    let state = HarnessState {
        harness: harness.id.to_owned(),
        title: harness.title.to_owned(),
        found: is_found,
        program: program.map(|path| path.display().to_string()),
        directory: trace.map(|path| path.display().to_string()),
        version,
        proved_on: harness.proved_on.iter().map(|version| (*version).to_owned()).collect(),
        wired,
        scopes,
        last_heard: wiring::last_heard(setup.home, harness),
        notes,
        coverage: harness.events.iter().map(event_coverage).collect(),
    };
    DetectedHarness { harness, by_machine, state }
}

/// State of our hooks, the scopes they are in, and what to know about them.
fn state_of_hooks(setup: &Setup<'_>, harness: &'static Harness) -> (HarnessWiring, Vec<String>, Vec<String>) {
    let Some(installer) = harness.installer() else {
        let why = wiring::unheard(harness).map(|why| format!("calls no hook: {why}"));
        return (HarnessWiring::Impossible, Vec::new(), why.into_iter().collect());
    };
    let (mut wired, mut scopes, mut notes) = (HarnessWiring::No, Vec::new(), Vec::new());
    let asked = wiring::asked(setup.home, installer);
    if asked.is_empty()
        && let Some(hooks) = wiring::machine_hooks(setup, harness)
    {
        let wired = if hooks.in_force { HarnessWiring::Yes } else { HarnessWiring::Unheeded };
        return (wired, vec![MACHINE_SCOPE.to_owned()], hooks.notes);
    }
    for asked in asked {
        scopes.push(wiring::scope_name(&asked.scope));
        let (standing, more) = match wiring::wired(setup, harness, &asked) {
            Ok(Wired::Well(plan)) if plan.in_force && plan.pending.is_empty() => {
                (HarnessWiring::Yes, plan.notes)
            }
            Ok(Wired::Well(plan)) => (HarnessWiring::Unheeded, [plan.notes, plan.pending].concat()),
            Ok(Wired::Lost(plan)) => (HarnessWiring::Lost, plan.notes),
            Err(error) => (HarnessWiring::Lost, vec![error.message]),
        };
        notes.extend(more);
        // The worst of them is the one to look at.
        if wired == HarnessWiring::No || standing != HarnessWiring::Yes {
            wired = standing;
        }
    }
    (wired, scopes, notes)
}

fn event_coverage(row: &EventRow) -> EventCoverage {
    let (wired, why) = match row.wiring {
        Wiring::Guard => (EventWiring::Guard, None),
        Wiring::Watch => (EventWiring::Watch, None),
        Wiring::Left(why) => (EventWiring::Left, Some(why.to_owned())),
    };
    EventCoverage {
        native: row.native.to_owned(),
        event: row.kind,
        wired,
        why,
        deny: match row.deny {
            Deny::Prevents => DenyEffect::Prevents,
            Deny::Feedback => DenyEffect::Feedback,
            Deny::Impossible => DenyEffect::Impossible,
        },
        ask: match row.ask {
            Ask::Prompt => AskEffect::Prompt,
            Ask::Wait => AskEffect::Wait,
            Ask::Never => AskEffect::Never,
        },
        rewrites: row.rewrite != Rewrite::Nothing,
        context: row.context,
    }
}
