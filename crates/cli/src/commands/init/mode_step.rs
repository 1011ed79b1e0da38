// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_home::Mode;

use super::step::{InitSite, InitStep, StepChoice, StepPlan, StepReport, UserChoice};
use crate::commands::mode::{read_mode, set_mode};
use crate::confirm::ProofArgs;
use crate::error::CommandError;
use crate::terminal::GOOD;

const MODES: &[(Mode, &str, &str)] = &[
    (Mode::Enforce, "enforce", "stop calls and ask, as the rules say"),
    (Mode::Monitor, "monitor", "only record what the rules would do, except locked ones"),
];

/// Chooses whether the rules are enforced.
pub(super) struct ModeStep;

impl InitStep for ModeStep {
    fn name(&self) -> &'static str {
        "mode"
    }

    fn title(&self) -> &'static str {
        "how strict to be"
    }

    fn plan(&self, site: &InitSite<'_>) -> Result<StepPlan, CommandError> {
        let (current, _) = read_mode(site.home)?;
        let choice = |(mode, id, label): &(Mode, &'static str, &str)| StepChoice {
            note: format!("  {id}"),
            is_done: *mode == current,
            is_default: *mode == current,
            ..StepChoice::new(id, *label)
        };
        Ok(StepPlan {
            question: "What should happen when a rule matches?",
            choices: MODES.iter().map(choice).collect(),
            is_single: true,
            ..StepPlan::default()
        })
    }

    fn apply(&self, site: &InitSite<'_>, chosen: &[UserChoice]) -> Result<StepReport, CommandError> {
        let id = chosen.first().map(|item| item.id);
        let Some((mode, name, _)) = MODES.iter().find(|(_, name, _)| id == Some(*name)) else {
            return Ok(StepReport::default());
        };
        // Monitor mode weakens protection, so the user types a confirmation.
        let is_changed = set_mode(site.context, site.home, *mode, &ProofArgs::default())?;
        let line = format!("{GOOD}✓{GOOD:#} mode: {name}");
        Ok(StepReport::line(line).with_detail(json!({"mode": name, "changed": is_changed})))
    }
}
