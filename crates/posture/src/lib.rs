// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reports the posture of a machine: the credential files that an agent could reach, the agents without a guard, and
//! the rules that are switched off. Each finding names a fix.
//!
//! Credential files are never opened. Only their names and modes are read.

mod agents;
mod credentials;
mod switched_off;

use serde::Serialize;
use tenterhook_event::Timestamp;
use tenterhook_guard::Configuration;
use tenterhook_home::WorkDirs;
use tenterhook_setup::Setup;
use tenterhook_terminal_text::{BAD, BOLD, DIM, GOOD, WARN, tame};

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PostureTopic {
    /// A file with credentials.
    Credentials,
    /// An agent on this machine.
    Agents,
    /// The rules, and the mode in which they apply.
    Rules,
}

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PostureLevel {
    /// Nothing to do.
    Good,
    /// Protection is weaker than it could be.
    Warning,
    /// Something is not protected.
    Open,
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PostureFinding {
    /// What the finding is about.
    pub topic: PostureTopic,
    /// How serious it is.
    pub level: PostureLevel,
    /// File, agent or rule.
    pub subject: String,
    /// State of the subject.
    pub state: String,
    /// What the user can do; present unless the level is good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// The findings about a machine, in the order of the topics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PostureReport {
    /// Whether nothing is open.
    pub closed: bool,
    /// Findings about credentials, agents and rules.
    pub findings: Vec<PostureFinding>,
}

impl PostureFinding {
    fn good(topic: PostureTopic, subject: impl Into<String>, state: impl Into<String>) -> Self {
        Self { topic, level: PostureLevel::Good, subject: subject.into(), state: state.into(), fix: None }
    }

    fn bad(
        topic: PostureTopic,
        level: PostureLevel,
        subject: impl Into<String>,
        state: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { topic, level, subject: subject.into(), state: state.into(), fix: Some(fix.into()) }
    }
}

/// Checks the machine with the rules that apply in the working directory.
pub fn check_posture(setup: &Setup<'_>, now: Timestamp) -> PostureReport {
    let place = WorkDirs::at(setup.working_directory.clone());
    let configuration = Configuration::read(setup.home, setup.env, &place);
    let switched_off = switched_off::find_switched_off(setup, &configuration);
    let agents = agents::check_agents(setup);
    let mut findings = credentials::check_credentials(setup, configuration, now);
    findings.extend(agents);
    findings.extend(switched_off);
    let closed = findings.iter().all(|finding| finding.level != PostureLevel::Open);
    PostureReport { closed, findings }
}

impl PostureReport {
    /// The report for a terminal.
    pub fn text(&self) -> String {
        let mut text: String = self.findings.iter().map(finding_text).collect();
        let number = |level| self.findings.iter().filter(|finding| finding.level == level).count();
        let warnings = number(PostureLevel::Warning);
        text += &match (number(PostureLevel::Open), warnings) {
            (0, 0) => format!("{GOOD}✓ nothing is open{GOOD:#}\n"),
            (0, _) => format!("{GOOD}✓ nothing is open{GOOD:#}, {}\n", count(warnings, "warning")),
            (open, _) => format!("{BAD}✗ {open} open{BAD:#}, {}\n", count(warnings, "warning")),
        };
        text
    }
}

/// Formats a count with its noun, without styles because the result may be part of JSON.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn finding_text(finding: &PostureFinding) -> String {
    let (mark, style) = match finding.level {
        PostureLevel::Good => ("✓", GOOD),
        PostureLevel::Warning => ("!", WARN),
        PostureLevel::Open => ("✗", BAD),
    };
    let (subject, state) = (tame(&finding.subject), tame(&finding.state));
    let mut line = format!("{style}{mark}{style:#} {BOLD}{subject}{BOLD:#}: {state}\n");
    if let Some(fix) = &finding.fix {
        line += &format!("  {DIM}→ {}{DIM:#}\n", tame(fix));
    }
    line
}
