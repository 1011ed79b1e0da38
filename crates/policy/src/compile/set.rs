// SPDX-License-Identifier: Apache-2.0 OR MIT

//! All rules that are in force together.

use std::sync::Arc;

use tenterhook_document::Problem;
use tenterhook_event::{Event, EventKind, Timestamp};
use tenterhook_facts::Facts;
use tenterhook_programs::Programs;

use super::loading::{Examples, LoadMode, Loaded, Loading};
use super::packs::{BASELINE, PACKS};
use crate::budget::{OwnPrices, Reported, Spending};
use crate::compiled::{NotableRules, Segment};
use crate::prices::Prices;
use crate::rule::{Limit, Matches, Rule};
use crate::source::{Choices, Pack, Source};
use crate::state::{SessionState, StateDelta};

/// All rules that are in force together: compiled, immutable, cheap to share in an [`Arc`].
#[derive(Debug)]
pub struct RuleSet {
    /// In the order of the rules: what was compiled before, then what was read from files.
    pub(super) segments: Vec<Segment>,
    pub(super) prices: OwnPrices,
    pub(super) digest: u64,
    pub(super) warnings: Vec<Problem>,
    /// `None` if the policy describes none.
    pub(super) programs: Option<Programs>,
}

impl RuleSet {
    /// Loads rule files, all of them checked. See [`RuleSet::load_with`].
    pub fn load(sources: &[Source<'_>]) -> Loaded {
        Self::load_with(sources, &Choices::default(), LoadMode::Checked)
    }

    /// Loads rule files, with what was chosen about the rules. Never fails as a whole: a broken rule is refused
    /// alone, the others are in force.
    pub fn load_with(sources: &[Source<'_>], choices: &Choices<'_>, mode: LoadMode<'_>) -> Loaded {
        let compiled = match mode {
            LoadMode::Checked => None,
            LoadMode::Trusted(compiled) => Some(Arc::clone(compiled)),
        };
        Loading::new(sources, choices, compiled, Examples::Try).finish(choices)
    }

    /// The packs that are on by default, checked.
    pub fn baseline() -> Loaded {
        Self::load(&BASELINE)
    }

    /// The texts of those packs.
    pub fn baseline_sources() -> &'static [Source<'static>] {
        &BASELINE
    }

    /// Every pack compiled in, in force or not.
    pub fn packs() -> &'static [Pack] {
        &PACKS
    }

    /// An id of the texts the rules were loaded from: the same for the same texts, everywhere.
    pub fn digest(&self) -> String {
        format!("{:016x}", self.digest)
    }

    /// Whether any rule looks at events of this kind; if not, there is no need to look for facts.
    pub fn concerns(&self, kind: EventKind) -> bool {
        self.segments.iter().any(|segment| segment.concerns(kind))
            || kind == EventKind::PostModel && self.has_budgets()
    }

    /// The programs that facts are read by, if the policy describes some of its own: see
    /// [`Surroundings::programs`](crate::Surroundings::programs).
    pub fn programs(&self) -> Option<&Programs> {
        self.programs.as_ref()
    }

    /// What models cost.
    pub fn prices(&self) -> &Prices {
        self.prices.table()
    }

    /// What an event adds to what was spent, where a budget counts it.
    pub(crate) fn spending(&self, event: &Event) -> Option<Spending> {
        self.has_budgets().then(|| Spending::of(event, self.prices()))?
    }

    /// What the transcript's totals in an event add to what was spent, where a budget counts it.
    pub(crate) fn reported(&self, event: &Event, state: &SessionState) -> Option<StateDelta> {
        self.has_budgets().then(|| Reported::delta(event, &state.reported))?
    }

    /// Whether some rule limits what may be spent.
    pub fn has_budgets(&self) -> bool {
        self.has_any(|notable| &notable.budgets)
    }

    /// Whether the event brings usage that a budget counts, whatever its kind.
    pub fn counts_usage_of(&self, event: &Event) -> bool {
        self.has_budgets() && event.detail.usage.is_some()
    }

    /// Whether what the rules say about events of this kind depends on, or changes, what is remembered
    /// of the session.
    pub fn is_stateful(&self, kind: EventKind) -> bool {
        let of_kind = |segment: &Segment| {
            let mut stateful = segment.compiled().header.notable.stateful.iter();
            stateful.any(|(other, rules)| *other == kind && segment.has_any(rules))
        };
        self.segments.iter().any(of_kind) || kind == EventKind::PostModel && self.has_budgets()
    }

    /// Whether any rule asks for the groups of the account that runs the agent; finding them takes time.
    pub fn asks_for_groups(&self) -> bool {
        self.has_any(|notable| &notable.by_group)
    }

    /// Whether matches of a rule are counted for all sessions together.
    pub fn counts_together(&self, rule: &str) -> bool {
        let limit = self.rule(rule).and_then(|rule| rule.limit);
        matches!(limit, Some(Limit::Matches(Matches { shared: true, .. })))
    }

    /// Whether some rule counts all sessions together.
    pub fn needs_all_sessions(&self) -> bool {
        self.has_any(|notable| &notable.all_sessions)
    }

    fn has_any(&self, notable: impl Fn(&NotableRules) -> &[u32]) -> bool {
        self.segments.iter().any(|segment| segment.has_any(notable(&segment.compiled().header.notable)))
    }

    #[cfg(test)]
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// How many rules there are.
    pub fn count(&self) -> usize {
        self.segments.iter().map(Segment::count).sum()
    }

    /// The rules, in order. All of them are decoded.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.segments.iter().flat_map(Segment::rules)
    }

    /// The rule of this id.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.segments.iter().find_map(|segment| segment.number(id).map(|number| segment.rule(number)))
    }

    /// What can be used but is probably not meant so, as things are at this moment.
    pub fn warnings(&self, now: Timestamp) -> Vec<Problem> {
        let mut warnings = self.warnings.clone();
        for segment in &self.segments {
            let expiring = &segment.compiled().header.notable.expiring;
            let expiring = expiring.iter().filter(|number| segment.has_any(&[**number]));
            for rule in expiring.map(|number| segment.rule(*number)).filter(|rule| rule.is_expired(now)) {
                let message = match rule.expires {
                    Some(expires) => format!("it expired on {expires} and is passed over"),
                    None => "it expired and is passed over".to_owned(),
                };
                warnings.push(rule.problem(message));
            }
        }
        warnings
    }

    /// Visits the rules that may match an event, in order, each with the alternatives that may hold; `None`
    /// for all of them. Every rule that does match is among them.
    pub(crate) fn visit_candidates<'s>(
        &'s self,
        event: &Event,
        facts: &Facts,
        mut visit: impl FnMut(&'s Rule, Option<&[u16]>),
    ) {
        for segment in &self.segments {
            segment.visit_candidates(event, facts, &mut visit);
        }
    }
}
