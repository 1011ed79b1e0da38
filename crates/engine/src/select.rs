// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Selects the hooks that apply to an event, and explains why the others do not.

use std::sync::Arc;

use tenterhook_event::{Decision, Event, Finding, Origin, TraceEntry, TraceStatus};
use tenterhook_harness::dialect::Mismatch;

use crate::{FailMode, Hook, HookId};

/// The result of selecting hooks for an event.
#[derive(Debug, Default)]
pub struct SelectedHooks {
    /// The hooks to run, in order.
    pub hooks: Vec<Arc<Hook>>,
    /// Hooks whose condition could not be evaluated. This is treated as a failure of the hook.
    pub failed: Vec<(Finding, TraceEntry)>,
    /// Hooks that apply but are skipped because they caused the call.
    pub skipped: Vec<TraceEntry>,
}

/// Whether a hook applies to an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applicability {
    /// The hook runs.
    Yes,
    /// The hook does not run. Contains the reason.
    No(String),
    /// The condition cannot be evaluated. Contains the error; [`Hook::fail`] decides what happens.
    Unknown(String),
}

/// Selects the hooks that apply to an event. `hooks` are the hooks for the event's kind, in order; `skipped` are
/// hooks that caused the call.
pub fn select_hooks(hooks: &[Arc<Hook>], event: &Event, skipped: &[HookId]) -> SelectedHooks {
    let mut selected = SelectedHooks::default();
    for hook in hooks {
        match check_conditions(hook, event) {
            Applicability::Yes if skipped.contains(&hook.id) => selected.skipped.push(trace_own_call(hook)),
            Applicability::Yes => selected.hooks.push(Arc::clone(hook)),
            Applicability::No(_) => {}
            Applicability::Unknown(why) => selected.failed.push(fail_hook(hook, why)),
        }
    }
    selected
}

/// Checks whether a hook applies to an event.
pub fn check_applicability(hook: &Hook, event: &Event) -> Applicability {
    if !hook.serves(event.event) {
        let kinds: Vec<_> = hook.on.iter().map(|kind| kind.name()).collect();
        return Applicability::No(format!("registered for {}, not for {}", kinds.join(", "), event.event));
    }
    check_conditions(hook, event)
}

fn check_conditions(hook: &Hook, event: &Event) -> Applicability {
    if !hook.enabled {
        return Applicability::No("disabled".to_owned());
    }
    if let Err(Mismatch(why)) = hook.matcher.admits(event) {
        return Applicability::No(why);
    }
    if let Some(Err(Mismatch(why))) = hook.only_if.as_ref().map(|rule| rule.admits(event)) {
        return Applicability::No(why);
    }
    match hook.when.as_ref().map(|when| (when.holds(event), when.text())) {
        None | Some((Ok(true), _)) => Applicability::Yes,
        Some((Ok(false), text)) => Applicability::No(format!("`when: {text}` is false")),
        Some((Err(error), text)) => {
            Applicability::Unknown(format!("`when: {text}` cannot be evaluated: {error}"))
        }
    }
}

fn trace_own_call(hook: &Hook) -> TraceEntry {
    let (by, note) = (Origin::Hook(Arc::clone(&hook.id)), "the hook made this call itself".to_owned());
    TraceEntry { by, status: TraceStatus::Skipped, decision: Decision::None, took_us: 0, note: Some(note) }
}

fn fail_hook(hook: &Hook, why: String) -> (Finding, TraceEntry) {
    let by = Origin::Hook(Arc::clone(&hook.id));
    let finding = match hook.fail {
        // An observer never decides, even if it fails.
        _ if hook.observes => Finding::silent(by.clone()),
        FailMode::Open => Finding::silent(by.clone()),
        FailMode::Closed => {
            Finding::decided(by.clone(), Decision::Deny, format!("hook `{}` failed: {why}", hook.id))
        }
    };
    let step = TraceEntry {
        by,
        status: TraceStatus::Failed,
        decision: finding.decision,
        took_us: 0,
        note: Some(why),
    };
    (finding, step)
}
