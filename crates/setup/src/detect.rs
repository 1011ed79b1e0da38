// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Detects harnesses on this machine, the state of their hooks, and their last event.

use tenterhook_api::{AskEffect, DenyEffect, EventCoverage, EventWiring, HarnessState, HarnessWiring};
use tenterhook_harness::{
    AskSupport, DenySupport, EventRow, HARNESSES, Harness, InstallWiring, RewriteSupport,
};
use tenterhook_harness_install::{DetectedClient, HarnessClient as _, detect};

use crate::Setup;
use crate::wiring::{self, HookState, MACHINE_SCOPE};

/// A supported harness, and its state on this machine.
#[derive(Debug)]
pub struct DetectedHarness {
    /// The harness's row in the table of harnesses.
    pub harness: &'static Harness,
    /// Whether only the machine's settings guard the harness. Its events are then in the machine's ledger, not in the
    /// user's.
    pub by_machine: bool,
    /// State of the harness.
    pub state: HarnessState,
}

/// Checks every harness in the table. No program is run.
pub fn detect_harnesses(setup: &Setup<'_>) -> Vec<DetectedHarness> {
    HARNESSES.iter().map(|harness| detect_harness(setup, harness)).collect()
}

fn detect_harness(setup: &Setup<'_>, harness: &'static Harness) -> DetectedHarness {
    let found = detect(harness, &setup.env.machine());
    let is_found = found.is_some();
    let DetectedClient { program, trace, version } = found.unwrap_or_default();
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
        last_heard: wiring::last_event(setup.home, harness),
        notes,
        coverage: harness.events.iter().map(event_coverage).collect(),
    };
    DetectedHarness { harness, by_machine, state }
}

/// State of the hooks, their scopes, and notes about them.
fn state_of_hooks(setup: &Setup<'_>, harness: &'static Harness) -> (HarnessWiring, Vec<String>, Vec<String>) {
    let Some(installer) = harness.installer() else {
        let why = wiring::unsupported_reason(harness).map(|why| format!("calls no hook: {why}"));
        return (HarnessWiring::Impossible, Vec::new(), why.into_iter().collect());
    };
    let (mut wired, mut scopes, mut notes) = (HarnessWiring::No, Vec::new(), Vec::new());
    let asked = wiring::installed_options(setup.home, installer);
    if asked.is_empty()
        && let Some(hooks) = wiring::machine_hooks(setup, harness)
    {
        let wired = if hooks.in_force { HarnessWiring::Yes } else { HarnessWiring::Unheeded };
        return (wired, vec![MACHINE_SCOPE.to_owned()], hooks.notes);
    }
    for asked in asked {
        scopes.push(wiring::scope_name(&asked.scope));
        let (standing, more) = match wiring::compare_hooks(setup, harness, &asked) {
            Ok(HookState::Complete(plan)) if plan.in_force && plan.pending.is_empty() => {
                (HarnessWiring::Yes, plan.notes)
            }
            Ok(HookState::Complete(plan)) => (HarnessWiring::Unheeded, [plan.notes, plan.pending].concat()),
            Ok(HookState::Lost(plan)) => (HarnessWiring::Lost, plan.notes),
            Err(error) => (HarnessWiring::Lost, vec![error.message]),
        };
        notes.extend(more);
        // With several scopes, the last state other than `Yes` is reported.
        if wired == HarnessWiring::No || standing != HarnessWiring::Yes {
            wired = standing;
        }
    }
    (wired, scopes, notes)
}

fn event_coverage(row: &EventRow) -> EventCoverage {
    let (wired, why) = match row.wiring {
        InstallWiring::Guard => (EventWiring::Guard, None),
        InstallWiring::Watch => (EventWiring::Watch, None),
        InstallWiring::Skip(why) => (EventWiring::Left, Some(why.to_owned())),
    };
    EventCoverage {
        native: row.native.to_owned(),
        event: row.kind,
        wired,
        why,
        deny: match row.deny {
            DenySupport::Prevents => DenyEffect::Prevents,
            DenySupport::Feedback => DenyEffect::Feedback,
            DenySupport::Impossible => DenyEffect::Impossible,
        },
        ask: match row.ask {
            AskSupport::Prompt => AskEffect::Prompt,
            AskSupport::Wait => AskEffect::Wait,
            AskSupport::Never => AskEffect::Never,
        },
        rewrites: row.rewrite != RewriteSupport::Nothing,
        context: row.context,
    }
}
