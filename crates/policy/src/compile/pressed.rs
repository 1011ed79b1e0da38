// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A set of rules in a form from which one call is judged at once: the index is asked where it lies, and
//! only rules that could match are compiled, and of those only the alternatives that could hold.
//!
//! The form is for the program that wrote it: another version does not read it, and whoever keeps it
//! says whether it can be trusted.

pub(crate) mod bytes;

use std::sync::{Arc, OnceLock};

use tenterhook_document::Spot;
use tenterhook_event::{Decision, EventKind};

use super::index::Index;
use super::matcher::Matcher;
use super::set::RuleSet;
use super::trust;
use crate::budget::OwnPrices;
use crate::facts::expand_braces;
use crate::load::{self, Header, wire};
use crate::rule::{Mode, Rule, Severity};
use crate::source::{Choices, Layer, Source};
use bytes::{Cursor, Out};

const FORMAT: &str = "pressed rules 4";
const LAYERS: [Layer; 4] = [Layer::Baseline, Layer::Organisation, Layer::User, Layer::Project];

/// Rules, compiled or still to be.
#[derive(Debug)]
pub(super) enum Rules {
    Built(Vec<Rule>),
    Pressed(Vec<Slot>),
}

/// A rule that is compiled when it is needed.
#[derive(Debug)]
pub(super) struct Slot {
    bytes: Arc<Vec<u8>>,
    /// Where its record begins and ends.
    range: std::ops::Range<usize>,
    whole: OnceLock<Box<Rule>>,
    /// The alternatives that were asked for first, and the rule with only those.
    part: OnceLock<(Vec<u16>, Box<Rule>)>,
}

/// What is kept of a rule.
struct Record<'a> {
    id: &'a str,
    source: &'a str,
    layer: Layer,
    line: usize,
    first_of: Option<usize>,
    mode: Mode,
    suspect: bool,
    /// The rule without its alternatives, as JSON.
    rule: &'a str,
    /// Its alternatives, each as JSON.
    any: Vec<&'a str>,
}

// === impl RuleSet ===

impl RuleSet {
    /// Loads rules in haste and writes them down in the form that [`RuleSet::from_pressed`] reads. `None`
    /// if they would not be the same rules when they are read again.
    pub fn press(sources: &[Source<'_>], choices: &Choices<'_>) -> Option<Vec<u8>> {
        let set = Self::load_in_haste_with(sources, choices).rules;
        let raw: Vec<_> = sources.iter().map(|source| (source, load::raw(source))).collect();
        let mut out = Out::default();
        out.text(FORMAT);
        out.text(&format!("{:016x}", set.digest));
        out.number(usize::from(set.asks_for_groups));
        out.number(usize::from(set.has_budgets));
        set.prices.texts().iter().for_each(|text| out.text(text));
        out.number(set.stateful.len());
        set.stateful.iter().for_each(|kind| out.text(kind.name()));
        out.number(set.count());
        for rule in set.rules() {
            let of =
                |(source, _): &&(&Source<'_>, _)| source.layer == rule.layer && *source.name == *rule.source;
            let (source, rules) = raw.iter().find(of)?;
            let (_, json) = rules.iter().find(|(line, _)| *line == rule.line)?;
            let mut record = Out::default();
            write(rule, source.is_suspect(), json, &mut record);
            out.number(record.len());
            out.append(&record);
        }
        set.index.write(&mut out);
        let bytes = out.into_bytes();
        let again = Self::from_pressed(&Arc::new(bytes.clone()), 0)?;
        let shown = |set: &Self| set.rules().map(|rule| format!("{rule:?}")).collect::<Vec<_>>();
        (shown(&again) == shown(&set)).then_some(bytes)
    }

    /// Reads rules that were pressed by the same program, from here on. Problems and warnings are not among
    /// them.
    pub fn from_pressed(bytes: &Arc<Vec<u8>>, start: usize) -> Option<Self> {
        let mut cursor = Cursor::new(bytes.get(start..)?);
        if cursor.text()? != FORMAT {
            return None;
        }
        let digest = u64::from_str_radix(cursor.text()?, 16).ok()?;
        let asks_for_groups = cursor.number()? != 0;
        let has_budgets = cursor.number()? != 0;
        let prices = OwnPrices::new(cursor.text()?, cursor.text()?);
        let kinds = cursor.number()?;
        let stateful = (0..kinds).map(|_| cursor.text()?.parse::<EventKind>().ok()).collect::<Option<_>>()?;
        let count = cursor.number()?;
        let mut slots = Vec::with_capacity(count.min(bytes.len()));
        for _ in 0..count {
            let length = cursor.number()?;
            let start = bytes.len().checked_sub(cursor.rest().len())?;
            cursor.take(length)?;
            slots.push(Slot {
                bytes: Arc::clone(bytes),
                range: start..start + length,
                whole: OnceLock::new(),
                part: OnceLock::new(),
            });
        }
        let index = Index::read(bytes, &mut cursor)?;
        let rules = Rules::Pressed(slots);
        let warnings = Vec::new();
        Some(Self { rules, index, stateful, asks_for_groups, has_budgets, prices, digest, warnings })
    }
}

fn write(rule: &Rule, suspect: bool, json: &serde_json::Value, to: &mut Out) {
    let mut json = json.clone();
    if let Some(matches) = json.get_mut("match") {
        open_braces(matches);
    }
    let any = json.get_mut("match").and_then(|matches| matches.as_object_mut()?.remove("any"));
    let any = match any {
        Some(serde_json::Value::Array(any)) => any,
        Some(one) => vec![one],
        None => Vec::new(),
    };
    to.text(&rule.id);
    to.text(&rule.source);
    to.number(LAYERS.iter().position(|layer| *layer == rule.layer).unwrap_or(usize::MAX));
    to.number(rule.line);
    to.number(rule.first_of.map_or(0, |number| number + 1));
    to.number(usize::from(rule.mode == Mode::Monitor));
    to.number(usize::from(suspect));
    to.text(&json.to_string());
    to.number(any.len());
    for one in &any {
        to.text(&one.to_string());
    }
}

/// Opens the braces of paths, so that it is done once and not with every call.
fn open_braces(json: &mut serde_json::Value) {
    use serde_json::Value;

    let opened = |text: &str| {
        let paths = text.contains('{').then(|| expand_braces(text)).flatten();
        paths.unwrap_or_else(|| vec![text.to_owned()])
    };
    match json {
        Value::Array(items) => items.iter_mut().for_each(open_braces),
        Value::Object(fields) => {
            // What stands in `regex` is no glob.
            for (key, value) in fields.iter_mut().filter(|(key, _)| *key != "regex") {
                let is_path = matches!(key.as_str(), "path" | "reads" | "input" | "output");
                match value {
                    Value::String(text) if is_path => *value = opened(text).into(),
                    Value::Array(items) if is_path && items.iter().all(Value::is_string) => {
                        *value = items.iter().filter_map(Value::as_str).flat_map(opened).collect();
                    }
                    other => open_braces(other),
                }
            }
        }
        _ => {}
    }
}

// === impl Rules ===

impl Rules {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Built(rules) => rules.len(),
            Self::Pressed(slots) => slots.len(),
        }
    }

    pub(super) fn get(&self, number: usize) -> Option<&Rule> {
        match self {
            Self::Built(rules) => rules.get(number),
            Self::Pressed(slots) => slots.get(number).map(Slot::whole),
        }
    }

    /// A rule with those of its alternatives that are to be looked at; `None` for all that it has.
    pub(super) fn with_parts(
        &self,
        number: usize,
        parts: Option<Vec<u16>>,
    ) -> Option<(&Rule, Option<Vec<u16>>)> {
        match (self, parts) {
            (Self::Pressed(slots), Some(parts)) => Some(slots.get(number)?.with_parts(parts)),
            (_, parts) => Some((self.get(number)?, parts)),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Rule> {
        (0..self.len()).filter_map(|number| self.get(number))
    }

    /// The rule of this id.
    pub(super) fn find(&self, id: &str) -> Option<&Rule> {
        match self {
            Self::Built(rules) => rules.iter().find(|rule| rule.id() == id),
            Self::Pressed(slots) => slots.iter().find(|slot| slot.is(id)).map(Slot::whole),
        }
    }
}

// === impl Slot ===

impl Slot {
    fn record(&self) -> Option<Record<'_>> {
        let mut cursor = Cursor::new(self.bytes.get(self.range.clone())?);
        let (id, source) = (cursor.text()?, cursor.text()?);
        let layer = *LAYERS.get(cursor.number()?)?;
        let line = cursor.number()?;
        let first_of = cursor.number()?.checked_sub(1);
        let mode = if cursor.number()? == 0 { Mode::Enforce } else { Mode::Monitor };
        let suspect = cursor.number()? != 0;
        let rule = cursor.text()?;
        let any = (0..cursor.number()?).map(|_| cursor.text()).collect::<Option<_>>()?;
        Some(Record { id, source, layer, line, first_of, mode, suspect, rule, any })
    }

    fn is(&self, id: &str) -> bool {
        self.bytes.get(self.range.clone()).and_then(|bytes| Cursor::new(bytes).text()) == Some(id)
    }

    fn whole(&self) -> &Rule {
        self.whole.get_or_init(|| Box::new(self.compile(None)))
    }

    fn with_parts(&self, parts: Vec<u16>) -> (&Rule, Option<Vec<u16>>) {
        if self.whole.get().is_none() {
            let (known, rule) = self.part.get_or_init(|| {
                let rule = Box::new(self.compile(Some(&parts)));
                (parts.clone(), rule)
            });
            // To vouch for something is to look at all of it.
            if *known == parts && matches!(rule.verdict, Decision::Ask | Decision::Deny) {
                return (rule, None);
            }
        }
        (self.whole(), Some(parts))
    }

    fn compile(&self, parts: Option<&[u16]>) -> Rule {
        let compiled = self.record().and_then(|record| record.compile(parts));
        compiled.unwrap_or_else(|| self.unreadable())
    }

    /// Whoever keeps the bytes has sealed them, and they were read when they were written. If this one
    /// cannot be read all the same, it is not passed over.
    fn unreadable(&self) -> Rule {
        let id = self.record().map_or("unreadable", |record| record.id);
        Rule {
            id: id.into(),
            description: String::new(),
            severity: Severity::Critical,
            mode: Mode::Enforce,
            layer: Layer::Baseline,
            source: "the snapshot".into(),
            line: 0,
            matcher: Matcher::default(),
            verdict: Decision::Deny,
            unread: None,
            reason: Some("a rule of the snapshot cannot be read".to_owned()),
            nudge: None,
            when: None,
            rewrite: None,
            limit: None,
            labels: Vec::new(),
            expires: None,
            overrides: Vec::new(),
            locked: true,
            first_of: None,
            fixed_words: false,
        }
    }
}

// === impl Record ===

impl Record<'_> {
    fn compile(&self, parts: Option<&[u16]>) -> Option<Rule> {
        let mut wire: wire::Rule = serde_json::from_str(self.rule).ok()?;
        let any: Vec<&str> = match parts {
            None => self.any.clone(),
            Some(parts) => {
                parts.iter().map(|part| self.any.get(usize::from(*part)).copied()).collect::<Option<_>>()?
            }
        };
        if !any.is_empty() {
            let any = any.into_iter().map(serde_json::from_str).collect::<Result<Vec<wire::Match>, _>>();
            wire.matches.any = Some(wire::Many(any.ok()?));
        }
        let order = if self.first_of.is_some() { wire::Order::First } else { wire::Order::All };
        let header = Header { mode: self.mode, order };
        let source = Source { name: self.source, text: "", layer: self.layer, trusted: !self.suspect };
        let spot = Spot { line: self.line, column: 0 };
        let number = self.first_of.unwrap_or_default();
        let mut rule = super::known(wire, &header, number, spot, &source).ok()?;
        rule.mode = self.mode;
        Some(if self.suspect { trust::with_fixed_words(rule) } else { rule })
    }
}

#[cfg(test)]
mod tests;
