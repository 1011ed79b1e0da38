// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds rules and hooks that are switched off, or that only monitor.

use tenterhook_guard::Configuration;
use tenterhook_home::Mode;
use tenterhook_home::packs::{PackList, built_in};
use tenterhook_policy::{Rule, RuleMode};
use tenterhook_setup::Setup;

use crate::{PostureFinding, PostureLevel, PostureTopic, count};

/// Checks the mode, the packs and rules that the user disabled, and rules that cannot be used.
pub(crate) fn find_switched_off(setup: &Setup<'_>, configuration: &Configuration) -> Vec<PostureFinding> {
    let mut findings = Vec::new();
    let mut report = |level, subject: &str, state: &str, fix: String| {
        findings.push(PostureFinding::bad(PostureTopic::Rules, level, subject, state, fix));
    };
    if configuration.mode == Mode::Monitor {
        let state = "monitor: rules record verdicts, but stop no call";
        report(PostureLevel::Open, "mode", state, "`tenterhook mode enforce`".to_owned());
    }
    match PackList::read(setup.home) {
        Ok(list) => {
            for name in &list.disabled {
                let is_pack = built_in(name).is_some() || list.find_added(name).is_some();
                let subject = if is_pack { format!("rule pack `{name}`") } else { format!("rule `{name}`") };
                let fix = format!("`tenterhook rules enable {name}`");
                report(PostureLevel::Open, &subject, "is switched off", fix);
            }
        }
        Err(problem) => {
            report(PostureLevel::Open, "rule packs", &problem.to_string(), "`tenterhook check`".to_owned());
        }
    }
    for rule in configuration.rules.rules().filter(|rule| rule.mode() == RuleMode::Monitor) {
        let fix = format!("remove `mode: monitor` at {}:{}", rule.source(), rule.line());
        report(PostureLevel::Warning, &rule_name(rule), "only records its verdicts", fix);
    }
    for hook in configuration.hooks.iter().filter(|hook| !hook.enabled) {
        let fix = "turn it on in the dashboard, or remove `enabled: false`".to_owned();
        report(PostureLevel::Warning, &format!("hook `{}`", hook.id), "is switched off", fix);
    }
    for problem in &configuration.problems {
        let fix = "`tenterhook check` shows the line".to_owned();
        report(PostureLevel::Open, "configuration", &problem.to_string(), fix);
    }
    if findings.is_empty() {
        let state =
            format!("{} enforced, none is switched off", count(configuration.rules.rules().count(), "rule"));
        findings.push(PostureFinding::good(PostureTopic::Rules, "rules", state));
    }
    findings
}

fn rule_name(rule: &Rule) -> String {
    format!("rule `{}`", rule.id())
}
