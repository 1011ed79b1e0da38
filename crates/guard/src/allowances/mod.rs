// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls that a user allowed after a rule had stopped them (`tenterhook allow`).
//!
//! An allowance applies to the findings of rules. Locked rules, hooks and failures cannot be allowed.

mod call_digest;
mod store;

use serde_json::json;
use tenterhook_engine::RuleJudgement;
use tenterhook_event::{Decision, Event, Finding, Origin, SessionCheck, TraceStatus};
use tenterhook_home::call_meta;
use tenterhook_policy::RuleSet;

pub(crate) use call_digest::call_digest;
pub use store::{Allowance, AllowanceScope, AllowanceStore, ONCE_LIFETIME, StoppedCall};

/// Describes a call that only these rules stop, as [`AllowanceStore`] compares it. Returns `None` for events that cannot
/// be stopped.
pub fn describe_stopped_call<'a>(event: &'a Event, rules: Vec<&'a str>) -> Option<StoppedCall<'a>> {
    // An allowance is valid for the agent that the user saw, not for every caller that uses the session id.
    let is_own = event.session_check != Some(SessionCheck::Unverified);
    Some(StoppedCall {
        digest: call_digest(event)?,
        source: &event.source,
        session: event.harness_session_id.as_deref().filter(|_| is_own),
        native_event: &event.native_event,
        tool_use_id: event.tool_use_id.as_deref(),
        rules,
    })
}

/// Replaces the findings of rules that stop a call, if a user allowed it.
pub(crate) fn apply(store: &AllowanceStore, event: &Event, rules: &RuleSet, judged: &mut RuleJudgement) {
    let mut stopping = judged.findings.iter().filter(|finding| stops(finding)).peekable();
    if stopping.peek().is_none() {
        return;
    }
    let unlocked = |finding: &Finding| match &finding.by {
        Origin::Rule(id) => rules.rule(id).filter(|rule| !rule.locked()).map(|rule| rule.id().to_owned()),
        Origin::Hook(_) | Origin::Engine => None,
    };
    let Some(stopped_by) = stopping.map(unlocked).collect::<Option<Vec<String>>>() else { return };
    let names = stopped_by.iter().map(String::as_str).collect();
    let Some(call) = describe_stopped_call(event, names) else { return };
    let digest = call.digest.clone();
    let allowance = match store.take(&call, call_meta::now_ms()) {
        Ok(Some(allowance)) => allowance,
        Ok(None) => return,
        Err(failure) => {
            // The user must learn why a call that was allowed is stopped again. Nothing weaker than the rules applies.
            let message = format!("Tenterhook: allowances were not used: {}", failure.message);
            judged.findings.push(Finding { message: Some(message), ..Finding::silent(Origin::Engine) });
            return;
        }
    };
    let note = match allowance.scope {
        AllowanceScope::Once => "allowed once",
        AllowanceScope::Session => "allowed in this session",
    };
    // The user saw the allowed call whole. Of another call of the session, only what these rules say about it is allowed:
    // the harness still asks about the rest.
    let allowed = match allowance.scope {
        AllowanceScope::Once => Some("The user allowed this call once."),
        AllowanceScope::Session if allowance.call == digest => {
            Some("The user allowed this call in this session.")
        }
        AllowanceScope::Session => None,
    };
    judged.findings.retain(|finding| !stops(finding));
    judged.findings.extend(allowed.map(|reason| Finding::decided(Origin::Engine, Decision::Allow, reason)));
    let matched = |status| matches!(status, TraceStatus::Matched);
    for step in judged.steps.iter_mut().filter(|step| matched(step.status) && step.decision >= Decision::Ask)
    {
        step.status = TraceStatus::Overridden;
        step.note = Some(step.note.take().map_or_else(|| note.to_owned(), |old| format!("{old}; {note}")));
    }
    let observed = judged.observed.get_or_insert_with(|| json!({}));
    if let Some(observed) = observed.as_object_mut() {
        observed.insert("allowed".to_owned(), json!({"of": allowance.of, "for": allowance.scope}));
    }
}

fn stops(finding: &Finding) -> bool {
    finding.decision >= Decision::Ask
}
