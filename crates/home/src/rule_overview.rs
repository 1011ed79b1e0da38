// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An overview of the rules for the command line and the API.

use tenterhook_api::{
    EnforcementMode, PolicyLayer, ProgramDescription, ProgramFile, RuleLayer, RuleSeverity, RuleView,
    WrittenRule,
};
use tenterhook_document::Problem;
use tenterhook_event::Timestamp;
use tenterhook_policy::{
    Programs, Rule, RuleMode, RulePage, RuleSet, Severity, SourceLayer, UserProgram, UserProgramFile,
};

use crate::sources::{SourceFile, Sources};
use crate::trust::Standing;

/// All rules of a home, and the subset that is in force.
pub struct RuleOverview<'a> {
    /// Sources of the rules.
    pub sources: &'a Sources,
    /// All rules, including disabled ones.
    pub all: RuleSet,
    /// Rules in force.
    pub in_force: RuleSet,
    /// Number of problems.
    pub problems: usize,
    now: Timestamp,
}

impl<'a> RuleOverview<'a> {
    /// Loads the rules from their sources.
    pub fn new(sources: &'a Sources, now: Timestamp) -> Self {
        let (loaded, all) = (sources.load(), sources.all_rules());
        let problems = loaded.problems.len() + sources.problems.len();
        Self { sources, all, in_force: loaded.rules, problems, now }
    }

    /// Short labels for the properties of a rule, such as whether it is locked or disabled.
    pub fn marks(&self, rule: &Rule) -> Vec<String> {
        let mut marks = Vec::new();
        if rule.locked() {
            marks.push("locked".to_owned());
        }
        if self.in_force.rule(rule.id()).is_none() {
            marks.push("off".to_owned());
        }
        if rule.mode() == RuleMode::Monitor {
            marks.push("monitored".to_owned());
        }
        match rule.expires() {
            Some(end) if end <= self.now => marks.push("expired".to_owned()),
            Some(end) => marks.push(format!("until {end}")),
            None => {}
        }
        let by: Vec<_> = self
            .in_force
            .rules()
            .filter(|other| other.overrides().any(|id| id == rule.id()))
            .map(Rule::id)
            .collect();
        if !by.is_empty() {
            marks.push(format!("can be overridden by {}", by.join(", ")));
        }
        marks
    }

    /// A rule, as the API describes it.
    pub fn rule_view(&self, rule: &Rule) -> RuleView {
        RuleView {
            id: rule.id().to_owned(),
            description: rule.description().to_owned(),
            layer: rule_layer(rule.layer()),
            source: rule.source().to_owned(),
            line: rule.line(),
            verdict: rule.verdict(),
            severity: match rule.severity() {
                Severity::Low => RuleSeverity::Low,
                Severity::Medium => RuleSeverity::Medium,
                Severity::High => RuleSeverity::High,
                Severity::Critical => RuleSeverity::Critical,
            },
            mode: match rule.mode() {
                RuleMode::Enforce => EnforcementMode::Enforce,
                RuleMode::Monitor => EnforcementMode::Monitor,
            },
            reason: rule.reason().map(ToOwned::to_owned),
            nudge: rule.nudge().map(ToOwned::to_owned),
            locked: rule.locked(),
            disabled: self.in_force.rule(rule.id()).is_none(),
            expired: rule.expires().is_some_and(|end| end <= self.now),
            expires: rule.expires(),
            overrides: rule.overrides().map(ToOwned::to_owned).collect(),
        }
    }

    /// All rules, as the API describes them.
    pub fn rules(&self) -> Vec<RuleView> {
        self.all.rules().map(|rule| self.rule_view(rule)).collect()
    }

    /// A rule as it is written in its file.
    pub fn rule_text(&self, id: &str) -> Option<WrittenRule> {
        let rule = self.all.rules().find(|rule| rule.id() == id)?;
        let file = self.sources.texts.iter().find(|text| text.name == rule.source());
        let page = file.and_then(|file| file.rule_page(id));
        let lines = |of: fn(&RulePage) -> &Vec<String>| page.as_ref().map(of).cloned().unwrap_or_default();
        Some(WrittenRule {
            id: id.to_owned(),
            source: rule.source().to_owned(),
            line: rule.line(),
            yaml: file.map(|file| without_indentation(&file.rule_lines(rule.line()))),
            matches: lines(|page| &page.matches),
            certainty: lines(|page| &page.certainty),
            dangerous: lines(|page| &page.dangerous),
            harmless: lines(|page| &page.harmless),
        })
    }

    /// Files that describe programs, and the names of programs with a built-in description.
    pub fn programs(&self) -> (Vec<ProgramFile>, Vec<String>) {
        let builtin = Programs::builtin();
        let programs = self.all.programs().unwrap_or(&builtin);
        let layer = |source: &str| {
            let file = self.sources.programs.iter().find(|file| file.name == source);
            file.map_or(RuleLayer::User, |file| rule_layer(file.layer))
        };
        let describe = |file: &UserProgramFile| ProgramFile {
            source: file.source.clone(),
            layer: layer(&file.source),
            programs: file.programs.iter().map(program_description).collect(),
        };
        let names = programs.names().map(ToOwned::to_owned).collect();
        (programs.user_files().iter().map(describe).collect(), names)
    }

    /// All sources of rules, as the API describes them.
    pub fn layers(&self) -> Vec<PolicyLayer> {
        let layer = |part: &SourceFile| PolicyLayer {
            layer: rule_layer(part.layer),
            source: part.name.clone(),
            pack: part.pack.clone(),
            trusted: part.standing == Standing::Trusted,
            standing: part.standing.word().to_owned(),
        };
        self.sources.texts.iter().map(layer).collect()
    }

    /// Returns warnings about the sources and about the rules in force.
    pub fn warnings(&self) -> Vec<Problem> {
        let own = self.in_force.warnings(self.now);
        self.sources.warnings.iter().cloned().chain(own).collect()
    }
}

fn program_description(program: &UserProgram) -> ProgramDescription {
    let UserProgram { names, line, replaces, examples } = program.clone();
    ProgramDescription { names, line, replaces, examples }
}

/// Joins lines without the indentation of the first one.
fn without_indentation(lines: &[&str]) -> String {
    let depth = lines.first().map_or(0, |line| line.len() - line.trim_start().len());
    lines.iter().flat_map(|line| [line.get(depth..).unwrap_or_default(), "\n"]).collect()
}

fn rule_layer(layer: SourceLayer) -> RuleLayer {
    match layer {
        SourceLayer::Baseline => RuleLayer::Baseline,
        SourceLayer::Organisation => RuleLayer::Organisation,
        SourceLayer::User => RuleLayer::User,
        SourceLayer::Project => RuleLayer::Project,
    }
}
