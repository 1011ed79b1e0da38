// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rule files → a rule set.

use std::collections::BTreeMap;
use std::sync::Arc;

use tenterhook_document::{Problem, Spot};
use tenterhook_event::Decision;

use super::descriptions::PolicyPrograms;
use super::digest::SetDigest;
use super::set::RuleSet;
use super::{BEFORE, trust};
use crate::budget::OwnPrices;
use crate::compiled::{self, CompiledRules, FileForm, Segment, text_digest, unreadable};
use crate::conditions::OneOrMore;
use crate::examples;
use crate::load::{self, Header, wire};
use crate::rule::{Mode, Rule};
use crate::source::{Choices, Source};

/// How rule files are loaded.
#[derive(Debug, Clone, Copy)]
pub enum LoadMode<'a> {
    /// Every file is read; its patterns are built and its examples tried.
    Checked,
    /// A file that was compiled from the very same text is taken from there. The others are checked.
    Trusted(&'a Arc<CompiledRules>),
}

/// What came of loading: the rules that are in force, and what was refused.
#[derive(Debug)]
pub struct Loaded {
    /// The rules that are in force.
    pub rules: RuleSet,
    /// What was refused, and why.
    pub problems: Vec<Problem>,
}

/// Whether the examples of rules are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Examples {
    Try,
    /// A test tries those of the packs.
    Skip,
}

/// Rules on their way into force.
pub(super) struct Loading {
    /// What was compiled before, as far as it is in force.
    trusted: Option<Segment>,
    /// What was read from files.
    rules: Vec<Rule>,
    files: Vec<FileForm>,
    taken: BTreeMap<Arc<str>, String>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    examples: Examples,
    digest: SetDigest,
    programs: PolicyPrograms,
}

impl Loading {
    /// Takes what was compiled before and reads the other files.
    pub(super) fn new(
        sources: &[Source<'_>],
        choices: &Choices<'_>,
        compiled: Option<Arc<CompiledRules>>,
        examples: Examples,
    ) -> Self {
        // Examples of rules are read by them.
        let (programs, problems) = PolicyPrograms::load(choices.programs);
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
            match compiled.as_ref().and_then(|compiled| compiled.file_of(source, digest)) {
                Some(file) => trusted_files.push(file),
                None => others.push((source, digest)),
            }
        }
        // Numbers of files are unique in the set.
        let first_number = compiled.as_ref().map_or(0, |compiled| compiled.header.files.len());
        if let Some(compiled) = compiled.filter(|_| !trusted_files.is_empty()) {
            let mut segment = Segment::new(compiled);
            segment.keep_files(&trusted_files);
            loading.trusted = Some(segment);
        }
        // A layer cannot take an id away from the layers before it, in whatever order files are given.
        others.sort_by_key(|(source, _)| source.layer);
        for (number, (source, digest)) in others.into_iter().enumerate() {
            loading.read(source, digest, first_number + number);
        }
        loading
    }

    fn read(&mut self, source: &Source<'_>, digest: u64, number: usize) {
        let Some(file) = load::read(source, &mut self.problems) else { return };
        let first = self.next_number();
        for (spot, wire) in file.rules {
            self.take(wire, &file.header, number, spot, source);
        }
        let rules = (first, self.next_number());
        let (name, layer) = (source.name.to_owned(), source.layer);
        self.files.push(FileForm { name, layer, digest, rules, kinds: Vec::new() });
    }

    fn next_number(&self) -> u32 {
        u32::try_from(self.rules.len()).unwrap_or(u32::MAX)
    }

    /// The rules in force, with what was chosen about them.
    pub(super) fn finish(mut self, choices: &Choices<'_>) -> Loaded {
        self.check_overrides();
        self.choose(choices);
        self.digest.add_choices(choices);
        let (prices, wrong) = OwnPrices::read(choices.prices);
        self.problems.extend(wrong);
        let own = (!self.rules.is_empty()).then(|| self.compile_own()).flatten();
        let segments = self.trusted.into_iter().chain(own).collect();
        let (digest, programs) = (self.digest.value(), self.programs.all);
        let rules = RuleSet { segments, prices, digest, warnings: self.warnings, programs };
        Loaded { rules, problems: self.problems }
    }

    /// The rules in their compiled form; what is wrong with them if some are refused.
    pub(super) fn compile(self) -> Result<Vec<u8>, Vec<Problem>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        compiled::compile(self.rules, self.files)
            .map_err(|_| vec![Problem::whole("rules", "they are too large to be compiled")])
    }

    fn compile_own(&mut self) -> Option<Segment> {
        let (rules, files) = (std::mem::take(&mut self.rules), std::mem::take(&mut self.files));
        let bytes = compiled::compile(rules, files).or_else(|_| {
            let message = "the rules are too large to be compiled: everything is denied";
            self.problems.push(Problem::whole("rules", message));
            let mut rule = unreadable(None);
            rule.matcher.event = Some(OneOrMore(BEFORE.to_vec()));
            compiled::compile(vec![rule], Vec::new())
        });
        let compiled = bytes.ok().and_then(|bytes| CompiledRules::open(bytes.into()));
        compiled.map(|compiled| Segment::new(Arc::new(compiled)))
    }

    /// One rule, if it can be used and its examples hold.
    fn take(
        &mut self,
        mut wire: wire::Rule,
        header: &Header,
        number: usize,
        spot: Spot,
        source: &Source<'_>,
    ) {
        let id = wire.id.clone();
        let problem = |message: String, hint: &str| {
            Problem::new(source.name, spot, message).about("rule", Some(&id)).hint(hint)
        };
        if let Some(first) = self.place_of(&id) {
            let message = format!("the id is taken by the rule at {first}");
            return self.problems.push(problem(message, "give this rule another id; it is not in force"));
        }
        if let Some((why, hint)) = source.distrust()
            && let Some(message) = trust::refused(&wire, why)
        {
            return self.problems.push(problem(message, hint));
        }
        let examples = std::mem::take(&mut wire.examples);
        let rule = match super::rule(wire, header, number, spot, source) {
            Ok(rule) if source.is_suspect() => trust::with_fixed_words(rule),
            Ok(rule) => rule,
            Err(messages) => {
                let hint = "this rule is not in force; the others are";
                return self.problems.extend(messages.into_iter().map(|message| problem(message, hint)));
            }
        };
        let failures = match self.examples {
            Examples::Try => examples::check(&rule, &examples, self.programs.for_examples(source.layer)),
            Examples::Skip => Vec::new(),
        };
        if !failures.is_empty() {
            let hint = "mend the rule or the example; the rule is not in force";
            return self.problems.extend(failures.into_iter().map(|message| problem(message, hint)));
        }
        if rule.verdict == Decision::Allow && !rule.matcher.is_narrow() {
            let message =
                "it allows whatever the tool would do: say what, with `shell`, `effect`, `path`, `host`, …";
            self.warnings.push(rule.problem(message.to_owned()));
        }
        self.taken.insert(Arc::clone(&rule.id), format!("{}:{}", source.name, spot.line));
        self.rules.push(rule);
    }

    /// Where the rule of this id is.
    fn place_of(&self, id: &str) -> Option<String> {
        let trusted = self.trusted.as_ref();
        let compiled = trusted.and_then(|segment| segment.number(id).map(|number| segment.rule(number)));
        let compiled = compiled.map(|rule| format!("{}:{}", rule.source(), rule.line()));
        compiled.or_else(|| self.taken.get(id).cloned())
    }

    /// Whether there is a rule of this id, and whether it is locked.
    fn is_locked(&self, id: &str) -> Option<bool> {
        let trusted = self.trusted.as_ref().and_then(|segment| {
            let number = segment.number(id)?;
            Some(segment.compiled().header.notable.locked.contains(&number))
        });
        trusted.or_else(|| self.rules.iter().find(|rule| rule.id() == id).map(|rule| rule.locked))
    }

    /// An exception to a locked rule is refused; one to a rule that does not exist is pointed out.
    fn check_overrides(&mut self) {
        let mut refused = Vec::new();
        for (number, rule) in self.rules.iter().enumerate() {
            for id in &rule.overrides {
                match self.is_locked(id) {
                    None => self
                        .warnings
                        .push(rule.problem(format!("it overrides `{id}`, which is no rule in force"))),
                    Some(false) => {}
                    Some(true) if refused.contains(&number) => {}
                    Some(true) => {
                        let message = format!("it overrides `{id}`, which is locked");
                        let hint = "this rule is not in force; the others are";
                        self.problems.push(rule.problem(message).hint(hint));
                        refused.push(number);
                    }
                }
            }
        }
        self.remove(&refused);
    }

    fn choose(&mut self, choices: &Choices<'_>) {
        let mut removed = Vec::new();
        for id in choices.disabled {
            if self.is_locked(id).is_some() {
                continue;
            }
            let message = format!("the rule `{id}` is disabled, but there is none");
            self.warnings.push(Problem::whole("the choice of rules", message));
        }
        for id in choices.disabled {
            let own = self.rules.iter().position(|rule| rule.id() == *id);
            let trusted = self.trusted.as_ref().and_then(|segment| segment.number(id));
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
        if choices.monitor {
            self.trusted.iter_mut().for_each(Segment::set_monitor);
            for rule in self.rules.iter_mut().filter(|rule| !rule.locked) {
                rule.mode = Mode::Monitor;
            }
        }
    }

    /// Takes rules out; files keep the numbers of those that are left.
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
