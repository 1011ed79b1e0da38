// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the index of rules and writes it in the compiled form.

use std::collections::BTreeMap;

use tenterhook_event::EventKind;

use super::lookup::UnkeyedRules;
use super::needs::{command_letters, needs_by_alternative};
use super::term::{
    COMPONENT_TAGS, IndexTerm, NAME_END_TAG, NAME_START_TAG, PATH_START_TAGS, PROGRAM_START_TAG,
};
use super::{IndexEntry, KeyTable, KindForm, WHOLE_RULE};
use crate::compiled::{BodyWriter, WriteError};
use crate::conditions::values;
use crate::rule::Rule;

/// The index of one kind of event while it is built.
#[derive(Default, PartialEq)]
struct KindBuilder {
    lists: UnkeyedRules,
    unread: Vec<IndexEntry>,
    keys: BTreeMap<String, Vec<IndexEntry>>,
}

/// Writes the index of these rules for each kind of event.
pub(crate) fn build(rules: &[Rule], to: &mut BodyWriter) -> Result<Vec<(EventKind, KindForm)>, WriteError> {
    let mut kinds: BTreeMap<EventKind, KindBuilder> = BTreeMap::new();
    for (number, rule) in (0_u32..).zip(rules) {
        let alternatives = needs_by_alternative(&rule.matcher);
        for kind in values(rule.matcher.event.as_ref()) {
            let kind = kinds.entry(*kind).or_default();
            if rule.unread.is_some() {
                kind.unread.push((number, WHOLE_RULE));
            }
            for (alternative, needs) in &alternatives {
                let inner = rule.matcher.any().get(usize::from(*alternative)).unwrap_or(&rule.matcher);
                match needs {
                    None => match command_letters(inner).or_else(|| command_letters(&rule.matcher)) {
                        Some(letters) => kind.lists.texts.push((letters, (number, *alternative))),
                        None => kind.lists.always.push((number, *alternative)),
                    },
                    Some(needs) => {
                        for need in needs {
                            kind.add(need.clone(), (number, *alternative));
                            // A component that is not known may be any of these.
                            if need.starts_with(COMPONENT_TAGS) {
                                kind.add(IndexTerm::SomeOpenPath.key(), (number, *alternative));
                            }
                        }
                    }
                }
            }
        }
    }
    // Most rules handle the same kinds of events, which then share one index.
    let mut written: Vec<(KindBuilder, KindForm)> = Vec::new();
    let mut forms = Vec::with_capacity(kinds.len());
    for (kind, builder) in kinds {
        let form = if let Some((_, form)) = written.iter().find(|(other, _)| *other == builder) {
            *form
        } else {
            let form = builder.write(to)?;
            written.push((builder, form));
            form
        };
        forms.push((kind, form));
    }
    Ok(forms)
}

impl KindBuilder {
    fn add(&mut self, key: String, entry: IndexEntry) {
        let entries = self.keys.entry(key).or_default();
        // Many globs of a rule begin with the same directory.
        if entries.last() != Some(&entry) {
            entries.push(entry);
        }
    }

    fn write(&self, to: &mut BodyWriter) -> Result<KindForm, WriteError> {
        let longest = |is_wanted: &dyn Fn(&str) -> bool| {
            let keys = self.keys.keys().filter(|key| is_wanted(key));
            keys.map(|key| key.len() - 1).max().unwrap_or(0)
        };
        Ok(KindForm {
            lists: to.add(&self.lists)?,
            unread: to.add(&self.unread)?,
            longest_path: longest(&|key| key.starts_with(PATH_START_TAGS)),
            longest_program: longest(&|key| key.starts_with(PROGRAM_START_TAG)),
            longest_name_part: longest(&|key| key.starts_with([NAME_START_TAG, NAME_END_TAG])),
            keys: KeyTable::write(&self.keys, to)?,
        })
    }
}
