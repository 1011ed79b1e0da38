// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_allow_commands::rules_level::set_level;
use tenterhook_home::packs::PackList;
use tenterhook_home::{Mode, ProtectionLevel};

use super::step::{InitSite, InitStep, StepChoice, StepPlan, StepReport, UserChoice};
use crate::commands::mode::{read_mode, set_mode};
use crate::confirm::ProofArgs;
use crate::error::CommandError;
use crate::terminal::GOOD;

/// Id of the choice that stops no calls.
const MONITOR: &str = "monitor";

/// Levels of protection, with what they do. The usual one comes first.
const LEVELS: &[(ProtectionLevel, &str, &str)] = &[
    (ProtectionLevel::Standard, "standard", "stop calls and ask, as the rules say"),
    (ProtectionLevel::Relaxed, "relaxed", "ask less: not about changes that can usually be undone"),
    (ProtectionLevel::Strict, "strict", "ask more: also about cloud, databases and packages"),
    (ProtectionLevel::Paranoid, "paranoid", "ask about everything that is not known to be harmless"),
];

/// Chooses how much the rules ask, and whether they are enforced.
pub(super) struct ModeStep;

impl InitStep for ModeStep {
    fn name(&self) -> &'static str {
        "mode"
    }

    fn title(&self) -> &'static str {
        "how strict to be"
    }

    fn plan(&self, site: &InitSite<'_>) -> Result<StepPlan, CommandError> {
        let (mode, _) = read_mode(site.home)?;
        let level = PackList::read_for_update(site.home)?.level;
        let is_current = |id: &str| match mode {
            Mode::Monitor => id == MONITOR,
            Mode::Enforce => id == level.name(),
        };
        let choice = |id: &'static str, label: &str| StepChoice {
            note: format!("  {id}"),
            is_done: is_current(id),
            is_default: is_current(id),
            ..StepChoice::new(id, label)
        };
        let levels = LEVELS.iter().map(|(_, id, label)| choice(id, label));
        let monitor = choice(MONITOR, "only record what the rules would do, except locked ones");
        Ok(StepPlan {
            question: "What should happen when a rule matches?",
            choices: levels.chain([monitor]).collect(),
            is_single: true,
            ..StepPlan::default()
        })
    }

    fn apply(&self, site: &InitSite<'_>, chosen: &[UserChoice]) -> Result<StepReport, CommandError> {
        let Some(id) = chosen.first().map(|item| item.id) else { return Ok(StepReport::default()) };
        let level = LEVELS.iter().find(|(_, name, _)| *name == id).map(|(level, ..)| *level);
        let (context, home, proof) = (site.context, site.home, ProofArgs::default());
        // Monitor mode and a lower level weaken protection, so the user types a confirmation.
        let (mode, name) = match level {
            Some(_) => (Mode::Enforce, "enforce"),
            None => (Mode::Monitor, MONITOR),
        };
        let mut is_changed = set_mode(context, home, mode, &proof)?;
        if let Some(level) = level {
            is_changed |= set_level(context, home, level, &proof)?;
        }
        let level = PackList::read_for_update(home)?.level;
        let line = format!("{GOOD}✓{GOOD:#} mode: {name}, level: {level}");
        let detail = json!({"mode": name, "level": level, "changed": is_changed});
        Ok(StepReport::line(line).with_detail(detail))
    }
}
