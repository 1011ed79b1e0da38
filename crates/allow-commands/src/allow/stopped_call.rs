// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks whether a recorded call was stopped by rules only, and which ones.

use tenterhook_event::{Decision, Origin, TraceStatus};
use tenterhook_guard::{LedgerHandle, StoppedCall, describe_stopped_call};
use tenterhook_home::env::Env;
use tenterhook_home::{Home, Sources, WorkDirs};
use tenterhook_ledger::StoredRecord;
use tenterhook_policy::LoadedRules;
use tenterhook_records::id_reference::find_stopped_call;
use tenterhook_records::recorded::{JsonField as _, RecordedDecision};

use crate::error::CommandError;

/// A recorded call that rules stopped.
pub(super) struct StoppedDecision {
    /// Number of the record.
    pub(super) seq: u64,
    /// The recorded call and its outcome.
    pub(super) recorded: RecordedDecision,
    /// Rules that stopped the call.
    pub(super) rules: Vec<String>,
    /// The rules that apply in the directory of the call.
    pub(super) active: LoadedRules,
}

impl StoppedDecision {
    /// Finds the call that a reference names. Fails if it cannot be allowed.
    pub(super) fn find(home: &Home, env: &Env, reference: &str) -> Result<Self, CommandError> {
        let reader = LedgerHandle::of(home).reader()?;
        let record = find_stopped_call(&reader, reference)?.ok_or_else(|| unknown_call(reference))?;
        let recorded = RecordedDecision::from_record(&record)?;
        let rules = rules_that_stopped(&record, &recorded)?;
        let sources = Sources::collect(home, env, &WorkDirs::of(&recorded.event));
        let active = sources.load();
        let is_locked = |id: &&String| active.rules.rule(id).is_some_and(tenterhook_policy::Rule::locked);
        if let Some(id) = rules.iter().find(is_locked) {
            return Err(CommandError::denied(format!("rule `{id}` stopped this call; it is locked and allows no exception"))
                .hint("locked rules protect Tenterhook itself or come from your organisation; run the command in your own terminal"));
        }
        Ok(Self { seq: record.seq, recorded, rules, active })
    }

    /// Describes the call, to compare it with later ones.
    pub(super) fn describe(&self) -> Result<StoppedCall<'_>, CommandError> {
        let rules = self.rules.iter().map(String::as_str).collect();
        describe_stopped_call(&self.recorded.event, rules).ok_or_else(|| {
            CommandError::user(format!("record {} is not a call that can run again", self.seq))
        })
    }

    /// Fails if the record does not contain the whole call, so that no later call can be compared with it.
    pub(super) fn require_whole_call(&self) -> Result<(), CommandError> {
        let payload = self.recorded.leaf.field("payload");
        let redacted = payload.field("redacted").as_u64().unwrap_or_default() > 0;
        let why = match &self.recorded.event.tool {
            _ if redacted => "the call contains a secret, which is not recorded",
            Some(tool) if tool.args.is_null() => "its arguments are not recorded",
            _ => return Ok(()),
        };
        Err(CommandError::user(format!("record {} cannot be compared with a later call: {why}", self.seq))
            .hint("allow the rule for the session instead: `--session`"))
    }
}

fn unknown_call(reference: &str) -> CommandError {
    let message = if reference == "last" {
        "no call was stopped yet".to_owned()
    } else {
        format!("no call `{reference}` in the ledger")
    };
    CommandError::not_found(message)
        .hint("`tenterhook ledger query --verdict deny` lists stopped calls with their names")
}

/// Returns the rules that denied a call or asked about it.
fn rules_that_stopped(
    record: &StoredRecord,
    recorded: &RecordedDecision,
) -> Result<Vec<String>, CommandError> {
    let seq = record.seq;
    if recorded.outcome.decision < Decision::Ask {
        let verdict = recorded.outcome.decision.label();
        return Err(CommandError::user(format!("record {seq} was not stopped: its verdict is {verdict}"))
            .hint("`tenterhook ledger query --verdict deny` lists stopped calls"));
    }
    let mut rules: Vec<String> = Vec::new();
    for step in recorded.outcome.trace.iter().filter(|step| step.decision >= Decision::Ask) {
        match &step.by {
            Origin::Rule(id)
                if step.status == TraceStatus::Matched && !rules.iter().any(|known| **known == **id) =>
            {
                rules.push(id.to_string());
            }
            Origin::Hook(id) if step.status == TraceStatus::Ran => {
                let hint = format!("change the hook `{id}`, or set `enabled: false` in tenterhook.yaml");
                return Err(CommandError::user(format!(
                    "hook `{id}` stopped record {seq}, and only rules can be overruled"
                ))
                .hint(hint));
            }
            _ => {}
        }
    }
    if rules.is_empty() {
        return Err(CommandError::user(format!(
            "no rule stopped record {seq}, and only rules can be overruled"
        ))
        .hint(format!("`tenterhook explain {seq}` shows why the call was stopped")));
    }
    Ok(rules)
}
