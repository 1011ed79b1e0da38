// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_api::HarnessWiring;
use tenterhook_harness::Harness;
use tenterhook_harness_install::SettingsScope;
use tenterhook_harness_install::receipt::InstallOptions;
use tenterhook_setup::detect::{DetectedHarness, detect_harnesses};
use tenterhook_setup::install::{Proposal, apply_install, plan_install};

use super::step::{InitSite, InitStep, StepChoice, StepPlan, StepReport, UserChoice};
use crate::commands::install::{installed_text, share_settings};
use crate::error::CommandError;
use crate::terminal::{DIM, GOOD};

/// Guards the agents on this machine.
pub(super) struct AgentsStep;

impl InitStep for AgentsStep {
    fn name(&self) -> &'static str {
        "agents"
    }

    fn title(&self) -> &'static str {
        "guard your agents"
    }

    fn plan(&self, site: &InitSite<'_>) -> Result<StepPlan, CommandError> {
        let host = site.host();
        let setup = host.setup();
        let is_guardable = |one: &DetectedHarness| one.state.wired != HarnessWiring::Impossible;
        let here: Vec<_> = detect_harnesses(&setup).into_iter().filter(|one| one.state.found).collect();
        let mut plan = StepPlan { question: "Which agents should Tenterhook guard?", ..StepPlan::default() };
        if !here.iter().any(is_guardable) {
            plan.found.push(format!(
                "{DIM}no agent was found that can be guarded; run `tenterhook init` again after you installed one{DIM:#}"
            ));
        }
        for one in &here {
            let is_done = one.state.wired == HarnessWiring::Yes;
            match (is_done, is_guardable(one)) {
                (true, _) => plan.found.push(format!("{GOOD}✓{GOOD:#} {} is guarded", one.harness.title)),
                (_, false) => {
                    plan.found.push(format!("{DIM}– {} cannot be guarded{DIM:#}", one.harness.title));
                    continue;
                }
                _ => {}
            }
            let note = if is_done {
                String::new()
            } else {
                describe_change(site, &plan_agent_install(site, one.harness))
            };
            plan.choices.push(StepChoice {
                note,
                is_done,
                is_default: !is_done,
                ..StepChoice::new(one.harness.id, one.harness.title)
            });
        }
        plan.is_finished = !plan.choices.is_empty() && plan.choices.iter().all(|choice| choice.is_done);
        Ok(plan)
    }

    fn apply(&self, site: &InitSite<'_>, chosen: &[UserChoice]) -> Result<StepReport, CommandError> {
        let named = chosen.iter().filter_map(|item| tenterhook_harness::find_harness(item.id)).collect();
        let (harnesses, shared) = share_settings(named)?;
        let mut report = StepReport::default();
        let mut proposals = Vec::new();
        for harness in harnesses {
            match plan_agent_install(site, harness) {
                Ok(proposal) => proposals.push(proposal),
                Err(error) => report.failures.push(error),
            }
        }
        apply_install(&site.host().setup(), &proposals)?;
        for proposal in &proposals {
            report.lines.extend(installed_text(site.home, proposal).lines().map(ToOwned::to_owned));
            if !proposal.plan.in_force {
                let notes = proposal.plan.notes.join("; ");
                let message = format!("{} does not run the hooks: {notes}", proposal.harness.title);
                report.failures.push(CommandError::conflict(message));
            }
        }
        let same = shared.iter().map(|(one, other)| format!("{} is guarded with {}", one.title, other.title));
        report.lines.extend(same);
        let guarded = proposals.iter().filter(|one| one.plan.in_force).map(|one| one.harness.id);
        report.detail = json!({"guarded": guarded.collect::<Vec<_>>()});
        Ok(report)
    }
}

/// Plans the hooks of a harness. In Codex they are trusted too, because untrusted hooks would not run.
fn plan_agent_install(site: &InitSite<'_>, harness: &'static Harness) -> Result<Proposal, CommandError> {
    let scope = site.home.machine().map_or(SettingsScope::User, SettingsScope::Machine);
    plan_install(&site.host().setup(), harness, &InstallOptions { scope, http: false, trust: true })
}

fn describe_change(site: &InitSite<'_>, proposal: &Result<Proposal, CommandError>) -> String {
    match proposal {
        Ok(proposal) => {
            let files = proposal.plan.steps.iter().filter(|step| !step.change.is_noop());
            let paths: Vec<_> = files.map(|step| site.abbreviate_home(&step.change.path)).collect();
            match paths.split_first() {
                Some((first, [])) => format!("  {first}"),
                Some((first, rest)) => format!("  {first} and {} more", rest.len()),
                None => String::new(),
            }
        }
        Err(error) => format!("  {}", error.message),
    }
}
