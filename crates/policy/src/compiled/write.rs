// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Encodes rules in the compiled form.

use std::collections::BTreeMap;

use serde::Serialize;
use tenterhook_event::EventKind;

use super::body::{BodyWriter, WriteError};
use super::{COMPILED_FORMAT, CompiledHeader, FileForm, NotableRules};
use crate::budget::SpendBudget;
use crate::conditions::values;
use crate::index::{self, KeyTable, WHOLE_RULE};
use crate::path_rule::RuleAboutPaths;
use crate::rule::{MatchLimit, Rule, RuleLimit};

/// One rule, with its alternatives as byte strings that can be decoded one by one.
#[derive(Serialize)]
struct RuleRecord<'a> {
    rule: &'a Rule,
    alternatives: Vec<Vec<u8>>,
}

/// Encodes rules that were loaded from these files. The rules of each file must be adjacent.
pub(crate) fn compile(mut rules: Vec<Rule>, mut files: Vec<FileForm>) -> Result<Vec<u8>, WriteError> {
    for file in &mut files {
        file.set_kinds(&rules);
    }
    let notable = NotableRules::from_rules(&rules);
    let mut body = BodyWriter::default();
    let about_paths =
        (0..).zip(&rules).filter_map(|(number, rule)| Some((number, RuleAboutPaths::of(rule)?)));
    let about_paths = body.add(&about_paths.collect::<Vec<(u32, RuleAboutPaths)>>())?;
    let kinds = index::build(&rules, &mut body)?;
    let ids: BTreeMap<_, _> =
        (0..).zip(&rules).map(|(number, rule)| (rule.id.to_string(), vec![(number, WHOLE_RULE)])).collect();
    let ids = KeyTable::write(&ids, &mut body)?;
    let (mut offsets, mut records) = (Vec::with_capacity(rules.len() + 1), BodyWriter::default());
    for rule in &mut rules {
        let any = rule.matcher.any.take();
        let alternatives: Result<_, _> = values(any.as_ref()).iter().map(postcard::to_allocvec).collect();
        let alternatives = alternatives.map_err(|_| WriteError)?;
        offsets.push(records.add(&RuleRecord { rule, alternatives })?);
    }
    offsets.push(records.end()?);
    let (offsets, records) = (body.add_offsets(offsets.into_iter())?, body.add_bytes(&records.into_bytes())?);
    let body = body.into_bytes();
    let fingerprint = hash_chunks(&body);
    let header = CompiledHeader {
        format: COMPILED_FORMAT,
        fingerprint,
        body_bytes: body.len(),
        files,
        offsets,
        records,
        ids,
        kinds,
        notable,
        about_paths,
    };
    let mut bytes = postcard::to_allocvec(&header).map_err(|_| WriteError)?;
    bytes.extend(body);
    Ok(bytes)
}

/// Returns a hash of the text of a rule file, equal on every machine. It detects edits, not attacks.
pub(crate) fn text_digest(text: &str) -> u64 {
    hash_chunks(text.as_bytes())
}

/// Hashes eight bytes at a time: texts and bodies are hundreds of kilobytes long.
fn hash_chunks(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    let length = u64::try_from(bytes.len()).unwrap_or_default();
    words.fold(length, |hash, word| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
}

impl FileForm {
    fn set_kinds(&mut self, rules: &[Rule]) {
        let (first, end) = self.rules;
        let own = (0_u32..).zip(rules).filter(|(number, _)| (first..end).contains(number));
        self.kinds = own.flat_map(|(_, rule)| values(rule.matcher.event.as_ref())).copied().collect();
        self.kinds.sort_unstable();
        self.kinds.dedup();
    }
}

impl NotableRules {
    fn from_rules(rules: &[Rule]) -> Self {
        let numbers = |has_property: &dyn Fn(&Rule) -> bool| {
            let meant = (0..).zip(rules).filter(|(_, rule)| has_property(rule));
            meant.map(|(number, _)| number).collect::<Vec<u32>>()
        };
        let mut stateful: BTreeMap<EventKind, Vec<u32>> = BTreeMap::new();
        for (number, rule) in (0..).zip(rules).filter(|(_, rule)| rule.is_stateful()) {
            for kind in values(rule.matcher.event.as_ref()) {
                stateful.entry(*kind).or_default().push(number);
            }
        }
        let all_sessions = |rule: &Rule| match &rule.limit {
            Some(RuleLimit::Matches(MatchLimit { shared, .. })) => *shared,
            Some(RuleLimit::Budget(budget)) => SpendBudget::is_daily(budget),
            None => false,
        };
        Self {
            locked: numbers(&|rule| rule.locked),
            by_group: numbers(&Rule::uses_groups),
            budgets: numbers(&|rule| rule.budget().is_some()),
            all_sessions: numbers(&all_sessions),
            expiring: numbers(&|rule| rule.expires.is_some()),
            stateful: stateful.into_iter().collect(),
        }
    }
}
