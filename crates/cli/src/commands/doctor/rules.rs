// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks the active rules with their examples, and the active hooks.

use tenterhook_guard::Configuration;
use tenterhook_guard::mcp_servers::{read_servers, unknown_servers};
use tenterhook_home::{WorkDirs, call_meta};

use super::{Examination, count_text};

pub(super) fn check_rules(examination: &mut Examination<'_>) {
    let place = WorkDirs::at(std::env::current_dir().ok());
    let configuration = Configuration::read(examination.home, &examination.context.env, &place);
    for problem in &configuration.problems {
        examination.broken("policy", problem.to_string()).fix("`tenterhook check` shows the line");
    }
    let own = configuration.rules.warnings(call_meta::now());
    let servers = read_servers(&examination.context.env, std::env::current_dir().ok().as_deref());
    let unknown = unknown_servers(&configuration.rules, &servers);
    for warning in configuration.warnings.iter().chain(&own).chain(&unknown) {
        examination.warning("policy", warning.to_string()).fix.clone_from(&warning.hint);
    }
    if configuration.problems.is_empty() {
        let (rules, hooks) = (configuration.rules.rules().count(), configuration.hooks.len());
        let status = format!(
            "{} and {} active, every example passes",
            count_text(rules, "rule"),
            count_text(hooks, "hook")
        );
        examination.good("policy", status);
    }
}
