// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Loads rule files into a rule set.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenterhook_document::{Problem, Spot};
use tenterhook_event::Decision;

use super::descriptions::PolicyPrograms;
use super::digest::SetDigest;
use super::set::RuleSet;
use super::{DEFAULT_EVENTS, trust};
use crate::budget::UserPrices;
use crate::compiled::{self, CompiledRules, FileForm, RuleSegment, text_digest, undecodable_rule};
use crate::conditions::OneOrMore;
use crate::examples;
use crate::load::{self, RuleFileHeader, wire};
use crate::rule::{Rule, RuleMode};
use crate::source::{RuleSettings, RuleSource};

/// How rule files are loaded.
#[derive(Debug, Clone, Copy)]
pub enum LoadMode<'a> {
    /// Parses every file, compiles its patterns and checks its examples.
    Checked,
    /// Takes a file from these compiled rules if its text has not changed since they were compiled. Other files are
    /// parsed and checked.
    Trusted(&'a Arc<CompiledRules>),
}

/// A rule set with the problems that were found while loading it.
#[derive(Debug)]
pub struct LoadedRules {
    /// The rules that are active.
    pub rules: RuleSet,
    /// Rules and files that were refused, and why.
    pub problems: Vec<Problem>,
}

const INACTIVE_RULE_HINT: &str = "this rule is not active; the others are";

/// Whether examples of rules are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExampleCheck {
    Run,
    /// Skips the check. Used for rule packs, whose examples are checked by a test.
    Skip,
}

/// Collects rules and problems while files are loaded.
pub(super) struct RuleLoader {
    /// Rules that were compiled before, without those of changed files.
    trusted: Option<RuleSegment>,
    /// Rules that were read from files.
    rules: Vec<Rule>,
    files: Vec<FileForm>,
    taken: BTreeMap<Arc<str>, String>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    examples: ExampleCheck,
    digest: SetDigest,
    programs: PolicyPrograms,
}

impl RuleLoader {
    /// Takes unchanged files from the compiled rules and reads the others.
    pub(super) fn new(
        sources: &[RuleSource<'_>],
        settings: &RuleSettings<'_>,
        compiled: Option<Arc<CompiledRules>>,
        examples: ExampleCheck,
    ) -> Self {
        // Examples are evaluated with these programs.
        let (programs, problems) = PolicyPrograms::load(settings.programs);
        let mut loading = Self {
            trusted: None,
            rules: Vec::new(),
            files: Vec::new(),
            taken: BTreeMap::new(),
            problems,
            warnings: Vec::new(),
            examples,
            digest: SetDigest::default(),
            programs,
        };
        let mut trusted_files = Vec::new();
        let mut others = Vec::new();
        for source in sources {
            let digest = text_digest(source.text);
            loading.digest.add_source(source, digest);
            match compiled.as_ref().and_then(|compiled| compiled.find_file(source, digest)) {
                Some(file) => trusted_files.push(file),
                None => others.push((source, digest)),
            }
        }
        // File numbers are unique within the set.
        let first_number = compiled.as_ref().map_or(0, |compiled| compiled.header.files.len());
        if let Some(compiled) = compiled.filter(|_| !trusted_files.is_empty()) {
            let mut segment = RuleSegment::new(compiled);
            segment.keep_files(&trusted_files);
            loading.trusted = Some(segment);
        }
        // Sorted by layer, so that a later layer cannot take an id from an earlier one, regardless of the order of the
        // files.
        others.sort_by_key(|(source, _)| source.layer);
        for (number, (source, digest)) in others.into_iter().enumerate() {
            loading.read(source, digest, first_number + number);
        }
        loading
    }

    fn read(&mut self, source: &RuleSource<'_>, digest: u64, number: usize) {
        let Some(file) = load::read_rule_file(source, &mut self.problems) else { return };
        let first = self.next_number();
        for (spot, wire) in file.rules {
            self.add_rule(wire, &file.header, number, spot, source);
        }
        let rules = (first, self.next_number());
        let (name, layer) = (source.name.to_owned(), source.layer);
        self.files.push(FileForm { name, layer, digest, rules, kinds: Vec::new() });
    }

    fn next_number(&self) -> u32 {
        u32::try_from(self.rules.len()).unwrap_or(u32::MAX)
    }

    /// Builds the rule set with the settings of the user.
    pub(super) fn finish(mut self, settings: &RuleSettings<'_>) -> LoadedRules {
        self.check_overrides();
        self.apply_settings(settings);
        self.digest.add_settings(settings);
        let (prices, wrong) = UserPrices::load(settings.prices);
        self.problems.extend(wrong);
        let own = (!self.rules.is_empty()).then(|| self.compile_own()).flatten();
        let segments = self.trusted.into_iter().chain(own).collect();
        let (digest, programs) = (self.digest.value(), self.programs.all);
        let rules = RuleSet { segments, prices, digest, warnings: self.warnings, programs };
        LoadedRules { rules, problems: self.problems }
    }

    /// Compiles the rules, or returns the problems if some are refused.
    pub(super) fn compile(self) -> Result<Vec<u8>, Vec<Problem>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        compiled::compile(self.rules, self.files)
            .map_err(|_| vec![Problem::for_file("rules", "the rules are too large to be compiled")])
    }

    fn compile_own(&mut self) -> Option<RuleSegment> {
        let (rules, files) = (std::mem::take(&mut self.rules), std::mem::take(&mut self.files));
        let bytes = compiled::compile(rules, files).or_else(|_| {
            let message = "the rules are too large to be compiled, so every call is denied";
            self.problems.push(Problem::for_file("rules", message));
            let mut rule = undecodable_rule(None);
            rule.matcher.event = Some(OneOrMore(DEFAULT_EVENTS.to_vec()));
            compiled::compile(vec![rule], Vec::new())
        });
        let compiled = bytes.ok().and_then(|bytes| CompiledRules::open(bytes.into()));
        compiled.map(|compiled| RuleSegment::new(Arc::new(compiled)))
    }

    /// Adds one rule if it is valid and its examples pass.
    fn add_rule(
        &mut self,
        mut wire: wire::RuleSpec,
        header: &RuleFileHeader,
        number: usize,
        spot: Spot,
        source: &RuleSource<'_>,
    ) {
        let id = wire.id.clone();
        let problem = |message: String, hint: &str| {
            Problem::new(source.name, spot, message).about("rule", Some(&id)).hint(hint)
        };
        if let Some(first) = self.location_of(&id) {
            let message = format!("the id is already used by the rule at {first}");
            return self.problems.push(problem(message, "use another id; this rule is not active"));
        }
        if let Some((why, hint)) = source.distrust_reason()
            && let Some(message) = trust::find_forbidden_key(&wire, why)
        {
            return self.problems.push(problem(message, hint));
        }
        let examples = std::mem::take(&mut wire.examples);
        let rule = match super::compile_rule(wire, header, number, spot, source) {
            Ok(rule) if source.is_untrusted() => trust::with_fixed_reason(rule),
            Ok(rule) => rule,
            Err(messages) => {
                let hint = INACTIVE_RULE_HINT;
                return self
                    .problems
                    .extend(messages.into_iter().map(|error| problem(error.to_string(), hint)));
            }
        };
        let failures = match self.examples {
            ExampleCheck::Run => {
                examples::find_failures(&rule, &examples, self.programs.for_examples(source.layer))
            }
            ExampleCheck::Skip => Vec::new(),
        };
        if !failures.is_empty() {
            let hint = "change the rule or the example; the rule is not active";
            return self.problems.extend(failures.into_iter().map(|message| problem(message, hint)));
        }
        if rule.verdict == Decision::Allow && !rule.matcher.is_narrow() {
            let message = "it allows anything that the tool does; add a condition such as `shell`, `effect`, `path` or \
                           `host`";
            self.warnings.push(rule.problem(message.to_owned()));
        }
        self.taken.insert(Arc::clone(&rule.id), format!("{}:{}", source.name, spot.line));
        self.rules.push(rule);
    }

    /// Returns where the rule with this id is defined.
    fn location_of(&self, id: &str) -> Option<String> {
        let trusted = self.trusted.as_ref();
        let compiled = trusted.and_then(|segment| segment.find_rule(id).map(|number| segment.rule(number)));
        let compiled = compiled.map(|rule| format!("{}:{}", rule.source(), rule.line()));
        compiled.or_else(|| self.taken.get(id).cloned())
    }

    /// Whether the rule with this id is locked; `None` if there is no such rule.
    fn is_locked(&self, id: &str) -> Option<bool> {
        let trusted = self.trusted.as_ref().and_then(|segment| {
            let number = segment.find_rule(id)?;
            Some(segment.compiled().header.notable.locked.contains(&number))
        });
        trusted.or_else(|| self.rules.iter().find(|rule| rule.id() == id).map(|rule| rule.locked))
    }

    /// Refuses overrides of locked rules and warns about overrides of unknown rules.
    fn check_overrides(&mut self) {
        let mut refused = Vec::new();
        for (number, rule) in self.rules.iter().enumerate() {
            for id in &rule.overrides {
                match self.is_locked(id) {
                    None => self
                        .warnings
                        .push(rule.problem(format!("it overrides `{id}`, but no such rule is active"))),
                    Some(false) => {}
                    Some(true) if refused.contains(&number) => {}
                    Some(true) => {
                        let message = format!("it overrides `{id}`, which is locked");
                        let hint = INACTIVE_RULE_HINT;
                        self.problems.push(rule.problem(message).hint(hint));
                        refused.push(number);
                    }
                }
            }
        }
        self.remove(&refused);
    }

    /// Applies the user's settings: disabled rules and monitor mode.
    fn apply_settings(&mut self, settings: &RuleSettings<'_>) {
        let mut removed = Vec::new();
        for id in settings.disabled {
            if self.is_locked(id).is_some() {
                continue;
            }
            let message = format!("the rule `{id}` is disabled, but no such rule is active");
            self.warnings.push(Problem::for_file("disabled rules", message));
        }
        for id in settings.disabled {
            let own = self.rules.iter().position(|rule| rule.id() == *id);
            let trusted = self.trusted.as_ref().and_then(|segment| segment.find_rule(id));
            match (self.is_locked(id), own, &mut self.trusted, trusted) {
                (Some(true), own, segment, trusted) => {
                    let rule = own.and_then(|at| self.rules.get(at));
                    let segment = segment.as_ref();
                    let rule = rule.or_else(|| segment.zip(trusted).map(|(segment, at)| segment.rule(at)));
                    let problem =
                        |rule: &Rule| rule.problem("it is locked and cannot be disabled".to_owned());
                    self.warnings.extend(rule.map(problem));
                }
                (Some(false), Some(own), ..) => removed.push(own),
                (Some(false), None, Some(segment), Some(number)) => segment.disable(number),
                (None, ..) | (Some(false), None, ..) => {}
            }
        }
        removed.sort_unstable();
        removed.dedup();
        self.remove(&removed);
        if settings.monitor {
            self.trusted.iter_mut().for_each(RuleSegment::set_monitor);
            for rule in self.rules.iter_mut().filter(|rule| !rule.locked) {
                rule.mode = RuleMode::Monitor;
            }
        }
    }

    /// Removes rules and renumbers the remaining rules of each file.
    fn remove(&mut self, removed: &[usize]) {
        let mut number = 0;
        self.rules.retain(|_| {
            number += 1;
            !removed.contains(&(number - 1))
        });
        let before = |end: u32| {
            let gone = removed.iter().filter(|at| u32::try_from(**at).is_ok_and(|at| at < end)).count();
            end - u32::try_from(gone).unwrap_or(0)
        };
        for file in &mut self.files {
            file.rules = (before(file.rules.0), before(file.rules.1));
        }
    }
}
