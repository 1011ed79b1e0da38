// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the index of rules and writes it in its compiled form.

use std::collections::BTreeMap;

use tenterhook_event::EventKind;

use super::lookup::Lists;
use super::needs::{letters, parts};
use super::word::{PATH_START_TAGS, PROGRAM_START_TAG};
use super::{Entry, KeyTable, KindForm, WHOLE_RULE};
use crate::compiled::{BodyWriter, WriteError};
use crate::conditions::values;
use crate::rule::Rule;

/// The index of one kind of event while it grows.
#[derive(Default, PartialEq)]
struct KindBuilder {
    lists: Lists,
    unread: Vec<Entry>,
    keys: BTreeMap<String, Vec<Entry>>,
}

/// Writes the index of some rules, kind by kind.
pub(crate) fn build(rules: &[Rule], to: &mut BodyWriter) -> Result<Vec<(EventKind, KindForm)>, WriteError> {
    let mut kinds: BTreeMap<EventKind, KindBuilder> = BTreeMap::new();
    for (number, rule) in (0_u32..).zip(rules) {
        let parts = parts(&rule.matcher);
        for kind in values(rule.matcher.event.as_ref()) {
            let kind = kinds.entry(*kind).or_default();
            if rule.unread.is_some() {
                kind.unread.push((number, WHOLE_RULE));
            }
            for (part, needs) in &parts {
                let inner = rule.matcher.any().get(usize::from(*part)).unwrap_or(&rule.matcher);
                match needs {
                    None => match letters(inner).or_else(|| letters(&rule.matcher)) {
                        Some(letters) => kind.lists.texts.push((letters, (number, *part))),
                        None => kind.lists.always.push((number, *part)),
                    },
                    Some(needs) => {
                        for need in needs {
                            kind.keys.entry(need.clone()).or_default().push((number, *part));
                        }
                    }
                }
            }
        }
    }
    // Most rules are about the same kinds of events, which share an index then.
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
    fn write(&self, to: &mut BodyWriter) -> Result<KindForm, WriteError> {
        let longest = |is_meant: &dyn Fn(&str) -> bool| {
            let keys = self.keys.keys().filter(|key| is_meant(key));
            keys.map(|key| key.len() - 1).max().unwrap_or(0)
        };
        Ok(KindForm {
            lists: to.add(&self.lists)?,
            unread: to.add(&self.unread)?,
            longest_path: longest(&|key| key.starts_with(PATH_START_TAGS)),
            longest_program: longest(&|key| key.starts_with(PROGRAM_START_TAG)),
            keys: KeyTable::write(&self.keys, to)?,
        })
    }
}
