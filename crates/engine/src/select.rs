// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which hooks apply to an event, and why the others do not.

use std::sync::Arc;

use tenterhook_event::{Decision, Event, Finding, Origin, Status, Step};
use tenterhook_harness::dialect::Mismatch;

use crate::{Fail, Hook, HookId};

/// The hooks that apply, in order, and those whose condition could not be evaluated.
#[derive(Debug, Default)]
pub struct Selected {
    /// The hooks to run.
    pub hooks: Vec<Arc<Hook>>,
    /// Hooks that failed before they ran: a condition that errs is a failure of its hook.
    pub failed: Vec<(Finding, Step)>,
    /// Hooks that apply and are not asked, because they made the call themselves.
    pub passed_over: Vec<Step>,
}

/// What there is to say about one hook and one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applies {
    /// It runs.
    Yes,
    /// It does not, and why.
    No(String),
    /// Nobody can tell, and why: `fail` decides.
    Unknown(String),
}

/// Selects. `hooks` are those of the event's kind, sorted already; `passed_over` made the call themselves.
pub fn select(hooks: &[Arc<Hook>], event: &Event, passed_over: &[HookId]) -> Selected {
    let mut selected = Selected::default();
    for hook in hooks {
        match condition(hook, event) {
            Applies::Yes if passed_over.contains(&hook.id) => selected.passed_over.push(own_call(hook)),
            Applies::Yes => selected.hooks.push(Arc::clone(hook)),
            Applies::No(_) => {}
            Applies::Unknown(why) => selected.failed.push(failed(hook, why)),
        }
    }
    selected
}

/// Whether a hook applies to an event.
pub fn applies(hook: &Hook, event: &Event) -> Applies {
    if !hook.serves(event.event) {
        let kinds: Vec<_> = hook.on.iter().map(|kind| kind.name()).collect();
        return Applies::No(format!("it is for {}, not {}", kinds.join(", "), event.event));
    }
    condition(hook, event)
}

fn condition(hook: &Hook, event: &Event) -> Applies {
    if !hook.enabled {
        return Applies::No("it is switched off".to_owned());
    }
    if let Err(Mismatch(why)) = hook.matcher.admits(event) {
        return Applies::No(why);
    }
    if let Some(Err(Mismatch(why))) = hook.only_if.as_ref().map(|rule| rule.admits(event)) {
        return Applies::No(why);
    }
    match hook.when.as_ref().map(|when| (when.holds(event), when.text())) {
        None | Some((Ok(true), _)) => Applies::Yes,
        Some((Ok(false), text)) => Applies::No(format!("`when: {text}` does not hold")),
        Some((Err(error), text)) => Applies::Unknown(format!("`when: {text}` cannot be evaluated: {error}")),
    }
}

fn own_call(hook: &Hook) -> Step {
    let (by, note) = (Origin::Hook(Arc::clone(&hook.id)), "it made this call itself".to_owned());
    Step { by, status: Status::Skipped, decision: Decision::None, took_us: 0, note: Some(note) }
}

fn failed(hook: &Hook, why: String) -> (Finding, Step) {
    let by = Origin::Hook(Arc::clone(&hook.id));
    let finding = match hook.fail {
        // An observer decides nothing, not even by failing.
        _ if hook.observes => Finding::silent(by.clone()),
        Fail::Open => Finding::silent(by.clone()),
        Fail::Closed => {
            Finding::decided(by.clone(), Decision::Deny, format!("the hook `{}` failed: {why}", hook.id))
        }
    };
    let step = Step { by, status: Status::Failed, decision: finding.decision, took_us: 0, note: Some(why) };
    (finding, step)
}
