// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Turns an approval into a rule: an exception in the user's policy that covers exactly this call.

use tenterhook_api::Approval;
use tenterhook_error::Failure;
use tenterhook_event::{HookCall, Origin};
use tenterhook_guard::rule_draft;
use tenterhook_home::{append_rule, make_private_dir, regular_file, write_atomic};
use tenterhook_policy::rule_yaml;

use crate::daemon::Daemon;

/// An exception, and the policy that includes it.
pub(super) struct Exception {
    pub(super) id: String,
    text: String,
}

impl Exception {
    pub(super) fn write(&self, daemon: &Daemon) -> Result<(), Failure> {
        make_private_dir(&daemon.home.config)?;
        write_atomic(&daemon.home.policy(), self.text.as_bytes(), 0o600)
    }
}

/// Writes the exception and tests it: with the exception in the policy, the call must pass.
pub(super) fn prepare(daemon: &Daemon, approval: &Approval, call: &HookCall) -> Result<Exception, Failure> {
    let cannot = |why: String| {
        Failure::user(why)
            .hint("approve it once or for the session, and write an exception by hand (docs/guide/policy.md)")
    };
    let rules: Option<Vec<&str>> = approval.reasons.iter().map(|reason| rule_of(&reason.by)).collect();
    let rules = rules.filter(|rules| !rules.is_empty());
    let rules = rules.ok_or_else(|| cannot("a hook asks; only rules can have exceptions".to_owned()))?;
    let mut event = call.event.clone();
    if let Some(tool) = &mut event.tool {
        // The user saw the changed input, which is what would run.
        tool.args = approval.args.clone();
    }
    let id = format!("approved-{}", approval.id.to_string().to_ascii_lowercase());
    let description = format!("Approved on {} when {} asked", approval.since, approval.source);
    let rule = rule_draft::exact_exception(&event, &rules, &id, &description)
        .map_err(|failure| cannot(failure.message))?;
    let path = daemon.home.policy();
    let before = regular_file(&path)?.unwrap_or_default();
    let text = append_rule(&path.display().to_string(), &before, &rule_yaml(&rule), &id)?;
    if rule_draft::policy_still_stops(&daemon.home, daemon.generations.env(), &event, &text) {
        return Err(cannot(format!(
            "the call would still not pass with an exception: {} is locked, or parts of the call cannot be analysed",
            rules.join(", ")
        )));
    }
    Ok(Exception { id, text })
}

fn rule_of(origin: &Origin) -> Option<&str> {
    match origin {
        Origin::Rule(id) => Some(id),
        _ => None,
    }
}
