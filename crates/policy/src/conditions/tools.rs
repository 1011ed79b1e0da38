// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Conditions on the tool that is called, by class or by name.

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error};
use tenterhook_event::{Event, ToolClass};

use super::glob::{GlobError, NameGlobs};
use super::one_or_more::OneOrMore;
use crate::index::{IndexTerm, NeedList, Rarity};

/// Tools by class or by name, with exceptions.
#[derive(Debug, Serialize)]
pub(crate) struct ToolCondition {
    pub(crate) classes: Vec<ToolClass>,
    pub(crate) names: Option<NameGlobs>,
    pub(crate) except: Option<NameGlobs>,
}

impl ToolCondition {
    fn new(texts: &[String]) -> Result<Self, GlobError> {
        let class = |text: &String| ToolClass::from_name(text);
        let (taken, given): (Vec<_>, Vec<_>) = texts.iter().partition(|text| text.starts_with('!'));
        if given.is_empty() {
            return Err(GlobError::OnlyExclusions("tools"));
        }
        let taken: Vec<_> = taken.iter().map(|text| text.trim_start_matches('!').to_owned()).collect();
        let named: Vec<_> =
            given.iter().filter(|text| class(text).is_none()).map(|text| (*text).clone()).collect();
        let names = |texts: &[String]| (!texts.is_empty()).then(|| NameGlobs::new(texts)).transpose();
        Ok(Self {
            classes: given.into_iter().filter_map(class).collect(),
            names: names(&named)?,
            except: names(&taken)?,
        })
    }

    pub(super) fn add_needs(&self, to: &mut NeedList) {
        let Self { classes, names, except: _ } = self;
        let classes: Vec<_> = classes.iter().map(|class| IndexTerm::Class(*class)).collect();
        match names {
            None => to.add_words(Rarity::Often, &classes),
            Some(names) => to.add_names_or(names, |name| IndexTerm::Tool(name), &classes),
        }
    }

    pub(super) fn matches(&self, event: &Event) -> bool {
        let Self { classes, names, except } = self;
        let Some(tool) = &event.tool else { return false };
        let within =
            classes.contains(&tool.class) || names.as_ref().is_some_and(|names| names.matches(&tool.name));
        let excepted = |names: &NameGlobs| names.matches(&tool.name) || names.matches(tool.class.name());
        within && !except.as_ref().is_some_and(excepted)
    }
}

impl<'de> Deserialize<'de> for ToolCondition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Self::new(&OneOrMore::deserialize(deserializer)?.0).map_err(Error::custom);
        }
        let (classes, names, except) = Deserialize::deserialize(deserializer)?;
        Ok(Self { classes, names, except })
    }
}

#[cfg(feature = "schema")]
super::schema_of_texts!(ToolCondition);
