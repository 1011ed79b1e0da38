// SPDX-License-Identifier: Apache-2.0 OR MIT

//! All active rules together.

use std::sync::Arc;

use tenterhook_document::Problem;
use tenterhook_event::{Event, EventKind, Timestamp};
use tenterhook_facts::Facts;
use tenterhook_programs::Programs;

use super::loading::{ExampleCheck, LoadMode, LoadedRules, RuleLoader};
use super::packs::{BASELINE, PACKS};
use crate::budget::{DailySpend, ReportedUsage, UserPrices};
use crate::compiled::{NotableRules, RuleSegment};
use crate::prices::PriceTable;
use crate::rule::{MatchLimit, Rule, RuleLimit};
use crate::source::{BuiltInPack, RuleSettings, RuleSource};
use crate::state::{SessionState, StateDelta};

/// All active rules together: compiled, immutable, cheap to share in an [`Arc`].
#[derive(Debug)]
pub struct RuleSet {
    /// Segments in rule order: rules that were compiled before, then rules that were read from files.
    pub(crate) segments: Vec<RuleSegment>,
    pub(super) prices: UserPrices,
    pub(super) digest: u64,
    pub(super) warnings: Vec<Problem>,
    /// `None` if the policy describes no programs.
    pub(super) programs: Option<Programs>,
}

impl RuleSet {
    /// Loads rule files and checks all of them. See [`RuleSet::load_with`].
    pub fn load(sources: &[RuleSource<'_>]) -> LoadedRules {
        Self::load_with(sources, &RuleSettings::default(), LoadMode::Checked)
    }

    /// Loads rule files with the user's settings. Loading never fails as a whole: an invalid rule is refused and the
    /// others stay active.
    pub fn load_with(
        sources: &[RuleSource<'_>],
        settings: &RuleSettings<'_>,
        mode: LoadMode<'_>,
    ) -> LoadedRules {
        let compiled = match mode {
            LoadMode::Checked => None,
            LoadMode::Trusted(compiled) => Some(Arc::clone(compiled)),
        };
        RuleLoader::new(sources, settings, compiled, ExampleCheck::Run).finish(settings)
    }

    /// Loads and checks the packs that are on by default.
    pub fn baseline() -> LoadedRules {
        Self::load(&BASELINE)
    }

    /// Returns the rule files of the packs that are on by default.
    pub fn baseline_sources() -> &'static [RuleSource<'static>] {
        &BASELINE
    }

    /// Returns every pack that is compiled into the program, active or not.
    pub fn packs() -> &'static [BuiltInPack] {
        &PACKS
    }

    /// Returns a digest of the texts and settings that the rules were loaded from. It is equal on every machine.
    pub fn digest(&self) -> String {
        format!("{:016x}", self.digest)
    }

    /// Whether any rule handles events of this kind; if not, no facts are needed.
    pub fn handles(&self, kind: EventKind) -> bool {
        self.segments.iter().any(|segment| segment.handles(kind))
            || kind == EventKind::PostModel && self.has_budgets()
    }

    /// Returns the programs with which facts are derived, if the policy describes any: see
    /// [`EvalEnvironment::programs`](crate::EvalEnvironment::programs).
    pub fn programs(&self) -> Option<&Programs> {
        self.programs.as_ref()
    }

    /// Returns the prices of models.
    pub fn prices(&self) -> &PriceTable {
        self.prices.table()
    }

    /// Returns the spend that an event reports, if a rule has a budget.
    pub(crate) fn spend_of(&self, event: &Event) -> Option<DailySpend> {
        self.has_budgets().then(|| DailySpend::from_event(event, self.prices()))?
    }

    /// Returns the spend that the transcript totals in an event add, if a rule has a budget.
    pub(crate) fn reported_spend(&self, event: &Event, state: &SessionState) -> Option<StateDelta> {
        self.has_budgets().then(|| ReportedUsage::delta_from_event(event, &state.reported))?
    }

    /// Whether any rule has a budget.
    pub fn has_budgets(&self) -> bool {
        self.has_any(|notable| &notable.budgets)
    }

    /// Whether an event reports usage and a rule has a budget. The kind of event does not matter.
    pub fn counts_usage_of(&self, event: &Event) -> bool {
        self.has_budgets() && event.detail.usage.is_some()
    }

    /// Whether rules on events of this kind read or change the session's state.
    pub fn is_stateful(&self, kind: EventKind) -> bool {
        let of_kind = |segment: &RuleSegment| {
            let mut stateful = segment.compiled().header.notable.stateful.iter();
            stateful.any(|(other, rules)| *other == kind && segment.has_any(rules))
        };
        self.segments.iter().any(of_kind) || kind == EventKind::PostModel && self.has_budgets()
    }

    /// Whether any rule looks at the groups of the account that runs the agent; looking them up takes time.
    pub fn uses_groups(&self) -> bool {
        self.has_any(|notable| &notable.by_group)
    }

    /// Whether matches of a rule are counted across all sessions.
    pub fn counts_all_sessions(&self, rule: &str) -> bool {
        let limit = self.rule(rule).and_then(|rule| rule.limit);
        matches!(limit, Some(RuleLimit::Matches(MatchLimit { shared: true, .. })))
    }

    /// Whether any rule counts matches across all sessions.
    pub fn needs_all_sessions(&self) -> bool {
        self.has_any(|notable| &notable.all_sessions)
    }

    fn has_any(&self, notable: impl Fn(&NotableRules) -> &[u32]) -> bool {
        self.segments.iter().any(|segment| segment.has_any(notable(&segment.compiled().header.notable)))
    }

    #[cfg(test)]
    pub(crate) fn segments(&self) -> &[RuleSegment] {
        &self.segments
    }

    /// Returns the number of active rules.
    pub fn count(&self) -> usize {
        self.segments.iter().map(RuleSegment::count).sum()
    }

    /// Returns the rules in order and decodes all of them.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.segments.iter().flat_map(RuleSegment::rules)
    }

    /// Returns the rule with this id, if it is active.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.segments.iter().find_map(|segment| segment.find_rule(id).map(|number| segment.rule(number)))
    }

    /// Returns warnings about rules that are valid at this time but probably not what the author intended.
    pub fn warnings(&self, now: Timestamp) -> Vec<Problem> {
        let mut warnings = self.warnings.clone();
        for segment in &self.segments {
            let expiring = &segment.compiled().header.notable.expiring;
            let expiring = expiring.iter().filter(|number| segment.has_any(&[**number]));
            for rule in expiring.map(|number| segment.rule(*number)).filter(|rule| rule.is_expired(now)) {
                let message = match rule.expires {
                    Some(expires) => format!("it expired on {expires} and is ignored"),
                    None => "it expired and is ignored".to_owned(),
                };
                warnings.push(rule.problem(message));
            }
        }
        warnings
    }

    /// Visits the rules that may match an event, in order, each with the alternatives that may match; `None` means
    /// all alternatives. No matching rule is skipped.
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
