// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds agents on this machine whose calls no rule evaluates.

use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_harness_install::{HarnessClient as _, Installer, MachineScope, SettingsScope, detect};
use tenterhook_setup::Setup;
use tenterhook_setup::wiring::{self, HookState};

use crate::{PostureFinding, PostureLevel, PostureTopic};

/// Checks each agent that is installed on this machine.
pub(crate) fn check_agents(setup: &Setup<'_>) -> Vec<PostureFinding> {
    let mut findings: Vec<_> = HARNESSES.iter().filter_map(|harness| check_agent(setup, harness)).collect();
    if findings.is_empty() {
        findings.push(PostureFinding::good(PostureTopic::Agents, "agents", "no known agent is installed"));
    }
    findings
}

fn check_agent(setup: &Setup<'_>, harness: &'static Harness) -> Option<PostureFinding> {
    detect(harness, &setup.env.machine())?;
    let open = |state: String, fix: String| {
        PostureFinding::bad(PostureTopic::Agents, PostureLevel::Open, harness.title, state, fix)
    };
    let good = |state: &str| PostureFinding::good(PostureTopic::Agents, harness.title, state);
    let Some(installer) = harness.installer() else {
        let why = wiring::unsupported_reason(harness)?;
        let fix = "use its own permission settings, or run it in a container".to_owned();
        return Some(open(format!("cannot be guarded: {why}"), fix));
    };
    if let Some(hooks) = wiring::machine_hooks(setup, harness) {
        return Some(if hooks.in_force {
            good("is guarded by machine-wide settings")
        } else {
            let fix = "change the settings as described, then run `tenterhook doctor`".to_owned();
            open(format!("does not run its machine-wide hooks: {}", hooks.notes.join("; ")), fix)
        });
    }
    let installed = wiring::installed_options(setup.home, installer);
    let in_user_settings =
        installed.iter().any(|options| !matches!(options.scope, SettingsScope::Project(_)));
    if installed.is_empty() {
        return Some(open("has no guard".to_owned(), install_command(setup, harness, installer)));
    }
    for options in &installed {
        let plan = match wiring::compare_hooks(setup, harness, options) {
            Ok(HookState::Complete(plan)) => plan,
            Ok(HookState::Lost(_)) => {
                let state = "has no guard: its hooks were changed or removed".to_owned();
                return Some(open(state, "`tenterhook doctor --fix`".to_owned()));
            }
            Err(error) => {
                let fix = error.hints.first().cloned().unwrap_or_else(|| "`tenterhook doctor`".to_owned());
                return Some(open(error.message, fix));
            }
        };
        if !plan.in_force {
            let fix = "change the settings as described, then run `tenterhook doctor`".to_owned();
            return Some(open(format!("does not run its hooks: {}", plan.notes.join("; ")), fix));
        }
        if let Some(todo) = plan.pending.first() {
            return Some(open("does not run its hooks yet".to_owned(), todo.clone()));
        }
    }
    Some(if in_user_settings {
        good("is guarded")
    } else {
        PostureFinding::bad(
            PostureTopic::Agents,
            PostureLevel::Warning,
            harness.title,
            "is guarded in some projects only",
            install_command(setup, harness, installer),
        )
    })
}

fn install_command(setup: &Setup<'_>, harness: &Harness, installer: &Installer) -> String {
    let is_machine_wide = setup.home.machine().is_some();
    let system = match installer.machine {
        MachineScope::Outranks { .. } if is_machine_wide => " --system",
        _ => "",
    };
    format!("`tenterhook install {}{system}`", harness.id)
}
