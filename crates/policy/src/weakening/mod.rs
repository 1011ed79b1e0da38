// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decides whether a change of rules weakens protection: whether some call could be treated less strictly than before.
//!
//! The answer is conservative. A change counts as weakening unless it is one of those that can only make verdicts
//! stricter: a new rule that denies or asks, a stricter verdict, a longer list of what such a rule looks for, a shorter
//! list of its exceptions, or the opposite for an exception. Texts shown to users and models do not count.

mod wider;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;
use tenterhook_event::{Decision, Timestamp};
use tenterhook_programs::UserProgram;

use crate::compile::RuleSet;
use crate::rule::{Rule, RuleMode};
use wider::is_wider;

/// One way in which a change weakens protection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weakening {
    /// What is changed.
    pub subject: WeakenedSubject,
    /// How it is changed.
    pub kind: WeakeningKind,
}

/// What a change weakens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum WeakenedSubject {
    /// The rule with this id.
    Rule(String),
    /// The rules of this file, of which only the first matching one applies.
    FirstMatchFile(String),
    /// The description of the program with this name.
    Program(String),
}

/// How a change weakens protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WeakeningKind {
    /// It is an exception: it allows calls or overrides other rules.
    Exception,
    /// It changes calls before they run.
    Rewrites,
    /// It sets a label that other rules treat as an exception.
    LabelsException,
    /// It is removed.
    Removed,
    /// Its verdict is less strict.
    Verdict,
    /// It is only monitored.
    Monitored,
    /// It is no longer locked.
    Unlocked,
    /// It applies until an earlier time.
    ExpiresEarlier,
    /// It may apply to fewer calls, or as an exception to more.
    Conditions,
    /// It overrides further rules.
    OverridesMore,
    /// Another property differs that can change verdicts.
    Effect,
    /// The order of its rules differs.
    Order,
    /// It replaces a built-in description.
    ReplacesBuiltIn,
    /// Its description differs.
    Description,
}

/// Returns every way in which the rules `new` may be less strict than `old`, sorted. `now` decides which rules have
/// expired.
///
/// This is the project's only definition of a change that weakens protection. It decides whether a change of rules is a
/// privileged action, and how many signatures a bundle of rules needs.
pub fn find_weakenings(old: &RuleSet, new: &RuleSet, now: Timestamp) -> Vec<Weakening> {
    let mut found = Vec::new();
    let active = |set: &'_ RuleSet| -> Vec<String> {
        set.rules().filter(|rule| !rule.is_expired(now)).map(|rule| rule.id().to_owned()).collect()
    };
    for id in active(old) {
        let Some(before) = old.rule(&id) else { continue };
        let after = new.rule(&id).filter(|rule| !rule.is_expired(now));
        match after {
            Some(after) => compare_rules(before, after, new, &mut found),
            None if before.is_exception() || before.only_shadows() => {}
            None => found.push(weakened_rule(before, WeakeningKind::Removed)),
        }
    }
    for id in active(new) {
        let is_known = old.rule(&id).is_some_and(|rule| !rule.is_expired(now));
        if let Some(added) = new.rule(&id).filter(|_| !is_known) {
            let kind = added.weakening_of_addition(new);
            found.extend(kind.map(|kind| weakened_rule(added, kind)));
        }
    }
    compare_orders(old, new, &mut found);
    compare_programs(old, new, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

fn weakened_rule(rule: &Rule, kind: WeakeningKind) -> Weakening {
    Weakening { subject: WeakenedSubject::Rule(rule.id().to_owned()), kind }
}

impl Rule {
    /// Whether the rule is an exception: it allows calls or overrides other rules.
    pub fn is_exception(&self) -> bool {
        self.verdict == Decision::Allow || !self.overrides.is_empty()
    }

    /// Returns how the addition of the rule to `set` weakens protection.
    fn weakening_of_addition(&self, set: &RuleSet) -> Option<WeakeningKind> {
        if self.is_exception() {
            Some(WeakeningKind::Exception)
        } else if self.rewrite.is_some() {
            Some(WeakeningKind::Rewrites)
        } else if self.labels.iter().any(|label| set.has_exception_for(label)) {
            Some(WeakeningKind::LabelsException)
        } else {
            None
        }
    }
}

impl RuleSet {
    /// Whether a rule is less strict in sessions with this label.
    fn has_exception_for(&self, label: &str) -> bool {
        self.rules().any(|rule| {
            let mut found = false;
            let permits = rule.verdict == Decision::Allow;
            rule.matcher.visit_all(&mut |matcher| {
                let exceptions = matcher.not().iter().filter_map(|exception| exception.label.as_ref());
                let own = matcher.label.as_ref().filter(|_| permits);
                found |= exceptions.chain(own).any(|labels| labels.matches(label));
            });
            found
        })
    }
}

fn compare_rules(before: &Rule, after: &Rule, set: &RuleSet, found: &mut Vec<Weakening>) {
    let mut add = |kind| found.push(weakened_rule(after, kind));
    let objects = |rule: &Rule| matches!(rule.verdict, Decision::Ask | Decision::Deny);
    if after.verdict != before.verdict && !(objects(after) && after.verdict > before.verdict) {
        add(WeakeningKind::Verdict);
    }
    if before.mode == RuleMode::Enforce && after.mode == RuleMode::Monitor && !before.is_exception() {
        add(WeakeningKind::Monitored);
    }
    // An exception that was only monitored had no effect.
    if before.mode == RuleMode::Monitor && after.mode == RuleMode::Enforce && after.is_exception() {
        add(WeakeningKind::Exception);
    }
    if before.locked && !after.locked {
        add(WeakeningKind::Unlocked);
    }
    let end = |rule: &Rule| rule.expires.map_or(u64::MAX, Timestamp::unix_ms);
    if !after.is_exception() && end(after) < end(before) || after.is_exception() && end(after) > end(before) {
        add(WeakeningKind::ExpiresEarlier);
    }
    if after.overrides.iter().any(|id| !before.overrides.contains(id)) {
        add(WeakeningKind::OverridesMore);
    }
    let (old, new) = (json_of(&before.matcher), json_of(&after.matcher));
    let is_stricter = match (old, new) {
        (Some(old), Some(new)) if old == new => true,
        (Some(old), Some(new)) if objects(before) && objects(after) => is_wider(&new, &old),
        (Some(old), Some(new)) if before.is_exception() && after.is_exception() => is_wider(&old, &new),
        _ => false,
    };
    if !is_stricter {
        add(WeakeningKind::Conditions);
    }
    if changes_effects(before, after, set) {
        add(WeakeningKind::Effect);
    }
}

fn json_of(value: &impl serde::Serialize) -> Option<Value> {
    serde_json::to_value(value).ok()
}

/// Whether a property that can change verdicts, and is not compared on its own, differs in a way that may be less
/// strict.
fn changes_effects(before: &Rule, after: &Rule, set: &RuleSet) -> bool {
    let objects = |rule: &Rule| matches!(rule.verdict, Decision::Ask | Decision::Deny);
    let both_object = objects(before) && objects(after);
    let differs = |value: fn(&Rule) -> Option<Value>| value(before) != value(after);
    let loses = |flag: fn(&Rule) -> bool| flag(before) != flag(after) && (flag(before) || !both_object);
    let keeps_labels = before.labels.iter().all(|label| after.labels.contains(label))
        && !after.labels.iter().any(|label| !before.labels.contains(label) && set.has_exception_for(label));
    let lifts_limit = both_object && before.limit.is_some() && after.limit.is_none();
    differs(|rule| json_of(&rule.when))
        || differs(|rule| json_of(&rule.rewrite))
        || differs(|rule| json_of(&rule.label_lifetime_ms))
        || differs(|rule| json_of(&rule.limit)) && !lifts_limit
        || !keeps_labels
        || before.first_of.is_some() != after.first_of.is_some()
        || after.takes_snapshot && !before.takes_snapshot
        || after.unread < before.unread
        || loses(|rule| rule.build_machines)
        || loses(|rule| rule.project_scripts)
}

/// Compares the order of rules in files of which only the first matching rule applies.
fn compare_orders(old: &RuleSet, new: &RuleSet, found: &mut Vec<Weakening>) {
    let orders = |set: &RuleSet| {
        let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for rule in set.rules().filter(|rule| rule.first_of.is_some()) {
            files.entry(file_name(rule.source())).or_default().push(rule.id().to_owned());
        }
        files
    };
    let before = orders(old);
    for (file, ids) in orders(new) {
        if before.get(&file) != Some(&ids) && ids.len() > 1 {
            let subject = WeakenedSubject::FirstMatchFile(file);
            found.push(Weakening { subject, kind: WeakeningKind::Order });
        }
    }
}

/// Returns the name of a file without the version of the bundle that contains it.
fn file_name(source: &str) -> String {
    source.split_once('/').map_or(source, |(_, name)| name).to_owned()
}

fn compare_programs(old: &RuleSet, new: &RuleSet, found: &mut Vec<Weakening>) {
    let described = |set: &RuleSet| {
        let files = set.programs().map(|programs| programs.user_files().to_vec()).unwrap_or_default();
        files.into_iter().flat_map(|file| file.programs).collect::<Vec<UserProgram>>()
    };
    let (before, after) = (described(old), described(new));
    let name = |program: &UserProgram| program.names.first().cloned().unwrap_or_default();
    let mut add = |program: &UserProgram, kind| {
        found.push(Weakening { subject: WeakenedSubject::Program(name(program)), kind });
    };
    let description = |set: &RuleSet, program: &UserProgram| {
        let programs = set.programs().map(|programs| programs.user_descriptions(&name(program)));
        let texts = programs
            .into_iter()
            .flatten()
            .map(|(_, found, program)| format!("{} {program:?}", found.replaces));
        texts.collect::<Vec<_>>()
    };
    for program in &before {
        if !after.iter().any(|other| other.names == program.names) {
            add(program, WeakeningKind::Removed);
        } else if description(old, program) != description(new, program) {
            add(program, WeakeningKind::Description);
        }
    }
    for program in after.iter().filter(|program| program.replaces) {
        if !before.iter().any(|other| other.names == program.names) {
            add(program, WeakeningKind::ReplacesBuiltIn);
        }
    }
}

// === impl Weakening ===

impl fmt::Display for Weakening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.subject, self.kind)
    }
}

impl fmt::Display for WeakenedSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(id) => write!(f, "rule `{id}`"),
            Self::FirstMatchFile(name) => write!(f, "file `{name}`"),
            Self::Program(name) => write!(f, "description of `{name}`"),
        }
    }
}

impl fmt::Display for WeakeningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exception => "is an exception",
            Self::Rewrites => "changes calls",
            Self::LabelsException => "sets a label that another rule treats as an exception",
            Self::Removed => "is removed",
            Self::Verdict => "has a less strict verdict",
            Self::Monitored => "is only monitored",
            Self::Unlocked => "is no longer locked",
            Self::ExpiresEarlier => "applies for another time",
            Self::Conditions => "has other conditions, which may be less strict",
            Self::OverridesMore => "overrides further rules",
            Self::Effect => "has other effects, which may be less strict",
            Self::Order => "has its rules in another order",
            Self::ReplacesBuiltIn => "replaces a built-in description",
            Self::Description => "differs",
        })
    }
}

#[cfg(test)]
mod tests;
