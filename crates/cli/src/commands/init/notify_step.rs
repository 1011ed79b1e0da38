// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use tenterhook_guard::ServiceSettings;
use tenterhook_home::{make_private_dir, regular_file, write_atomic};
use tenterhook_notify::{NotifyTarget, TargetKind, append_targets};

use super::step::{InitSite, InitStep, StepChoice, StepPlan, StepReport, UserChoice};
use crate::error::CommandError;
use crate::terminal::{DIM, GOOD, tame};

/// Creates a target from the text that the user typed.
type MakeTarget = fn(String) -> TargetKind;

/// Targets that are offered: id, label, question for the text that it needs, and the target.
const OFFERED: &[(&str, &str, Option<&str>, MakeTarget)] = &[
    ("desktop", "on the desktop", None, |_| TargetKind::Desktop),
    ("bell", "with the terminal's bell", None, |_| TargetKind::Bell),
    ("webhook", "as JSON to a webhook", Some("Address of the webhook (https://…): "), TargetKind::Webhook),
    ("slack", "in Slack", Some("Address of the incoming webhook (https://…): "), TargetKind::Slack),
    (
        "ntfy",
        "to a phone with ntfy",
        Some("Address of the topic (https://ntfy.sh/TOPIC): "),
        TargetKind::Ntfy,
    ),
];

/// Chooses how the user is notified about calls that wait for an approval.
pub(super) struct NotifyStep;

impl InitStep for NotifyStep {
    fn name(&self) -> &'static str {
        "notify"
    }

    fn title(&self) -> &'static str {
        "notifications"
    }

    fn plan(&self, site: &InitSite<'_>) -> Result<StepPlan, CommandError> {
        let present = ServiceSettings::of(site.home).0.notify.targets;
        if !present.is_empty() {
            let names: Vec<_> = present.iter().map(NotifyTarget::name).collect();
            let line = format!("{GOOD}✓{GOOD:#} you are notified: {}", tame(&names.join(", ")));
            return Ok(StepPlan { found: vec![line], is_finished: true, ..StepPlan::default() });
        }
        let choice = |(id, label, input, _): &(&'static str, &str, Option<&'static str>, MakeTarget)| {
            StepChoice { input: *input, ..StepChoice::new(id, *label) }
        };
        Ok(StepPlan {
            found: vec!["The daemon can notify you when a call waits for your approval.".to_owned()],
            question: "How should it notify you? (no selection: no notifications)",
            choices: OFFERED.iter().map(choice).collect(),
            ..StepPlan::default()
        })
    }

    fn apply(&self, site: &InitSite<'_>, chosen: &[UserChoice]) -> Result<StepReport, CommandError> {
        let target = |item: &UserChoice| {
            let (.., make) = OFFERED.iter().find(|(id, ..)| *id == item.id)?;
            Some(make(item.text.clone()))
        };
        let targets: Vec<_> = chosen.iter().filter_map(target).collect();
        if targets.is_empty() {
            return Ok(StepReport::line(format!("{DIM}no notifications{DIM:#}")));
        }
        let path = site.home.settings();
        let before = regular_file(&path)?.unwrap_or_default();
        let shown = path.display().to_string();
        let after = append_targets(&shown, &before, &targets).map_err(|error| {
            CommandError::conflict(error.to_string()).hint("add the targets by hand: `notify: [desktop]`")
        })?;
        make_private_dir(&site.home.config)?;
        let mode = fs_err::metadata(&path).map_or(0o600, |found| found.permissions().mode() & 0o777);
        write_atomic(&path, after.as_bytes(), mode)?;
        let ids: Vec<_> = chosen.iter().map(|item| item.id).collect();
        let shown = site.abbreviate_home(&path);
        let line = format!("{GOOD}✓{GOOD:#} wrote {shown}; test it: `tenterhook approvals notify`");
        Ok(StepReport::line(line).with_detail(json!({"targets": ids})))
    }
}
