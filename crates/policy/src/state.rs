// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What rules remember of a session: which labels it carries, when counted rules matched, what was spent.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::budget::{Reported, Spending, Spent};

/// A session carries no more labels than this; further ones are not taken.
pub const MOST_LABELS: usize = 64;
/// No rule is counted further than this.
pub const MOST_STAMPS: usize = 1000;
/// So many rules are counted in one session.
const MOST_RULES: usize = 1000;

/// What rules remember of one session. Small, and bounded whatever happens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The labels that rules have put on it.
    pub labels: BTreeSet<String>,
    /// When counted rules matched, oldest first, in milliseconds since the Unix epoch.
    pub matched: BTreeMap<String, Vec<u64>>,
    /// What was spent on models.
    #[serde(skip_serializing_if = "Spent::is_nothing")]
    pub spent: Spent,
    /// What was spent on the latest day on which something was. Counts where all sessions do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub today: Option<Spending>,
    /// The part of that which a transcript has reported.
    #[serde(skip_serializing_if = "Reported::is_nothing")]
    pub reported: Reported,
    /// The warnings about budgets that were said.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub warned: BTreeSet<String>,
}

/// What one event adds to a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StateDelta {
    /// Labels it does not carry yet.
    pub labels: Vec<String>,
    /// Rules that are counted and matched, and when.
    pub matched: Vec<(String, u64)>,
    /// How many matches of each of those rules are worth remembering.
    pub needed: BTreeMap<String, usize>,
    /// What was spent on a model, and on which day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spending>,
    /// What was spent on earlier days and is known only now: it counts for the session, and for no day.
    #[serde(skip_serializing_if = "Spent::is_nothing")]
    pub earlier: Spent,
    /// The totals of the transcript that this event has brought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported: Option<Reported>,
    /// The warnings about budgets that are said now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warned: Vec<String>,
}

// === impl SessionState ===

impl SessionState {
    /// The labels.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(String::as_str)
    }

    /// How often a rule has matched in a window that ends now.
    pub fn matches_within(&self, rule: &str, window_ms: u64, now_ms: u64) -> usize {
        let stamps = self.matched.get(rule).map(Vec::as_slice).unwrap_or_default();
        stamps.iter().filter(|stamp| stamp.saturating_add(window_ms) > now_ms).count()
    }

    /// Takes in what an event adds.
    pub fn apply(&mut self, delta: &StateDelta) {
        for label in &delta.labels {
            if self.labels.len() < MOST_LABELS || self.labels.contains(label) {
                self.labels.insert(label.clone());
            }
        }
        for (rule, stamp) in &delta.matched {
            if self.matched.len() >= MOST_RULES && !self.matched.contains_key(rule) {
                continue;
            }
            let needed = delta.needed.get(rule).copied().unwrap_or(MOST_STAMPS).min(MOST_STAMPS);
            let stamps = self.matched.entry(rule.clone()).or_default();
            let place = stamps.partition_point(|other| other <= stamp);
            stamps.insert(place, *stamp);
            let surplus = stamps.len().saturating_sub(needed);
            stamps.drain(..surplus);
        }
        if let Some(more) = delta.spent {
            self.spent = self.spent.plus(more.spent);
            self.today = Some(more.after(self.today));
        }
        self.spent = self.spent.plus(delta.earlier);
        if let Some(reported) = delta.reported {
            self.reported = self.reported.raised_to(reported);
        }
        for warning in delta.warned.iter().take(MOST_RULES.saturating_sub(self.warned.len())) {
            self.warned.insert(warning.clone());
        }
    }

    /// Whether there is nothing to remember.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

// === impl StateDelta ===

impl StateDelta {
    /// Whether it adds nothing.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.matched.is_empty() && self.warned.is_empty() && !self.adds_spending()
    }

    /// Whether it adds to what was spent.
    pub fn adds_spending(&self) -> bool {
        self.spent.is_some() || !self.earlier.is_nothing() || self.reported.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_remembers_no_more_than_it_needs() {
        let mut state = SessionState::default();
        for stamp in 0..100 {
            let needed = BTreeMap::from([("r".to_owned(), 3)]);
            let labels = vec![format!("label-{stamp}")];
            state.apply(&StateDelta {
                labels,
                matched: vec![("r".to_owned(), stamp)],
                needed,
                ..StateDelta::default()
            });
        }
        assert_eq!(state.matched["r"], [97, 98, 99]);
        assert_eq!(state.labels.len(), MOST_LABELS);
        assert_eq!(state.matches_within("r", 10, 107), 2);
        state.apply(&StateDelta { labels: vec!["label-0".into(), "late".into()], ..StateDelta::default() });
        assert!(state.labels.contains("label-0") && !state.labels.contains("late"));
    }

    #[test]
    fn a_clock_that_went_back_does_not_confuse_the_order() {
        let mut state = SessionState::default();
        for stamp in [5, 9, 7] {
            let needed = BTreeMap::from([("r".to_owned(), 2)]);
            state.apply(&StateDelta {
                matched: vec![("r".to_owned(), stamp)],
                needed,
                ..StateDelta::default()
            });
        }
        assert_eq!(state.matched["r"], [7, 9]);
    }
}
