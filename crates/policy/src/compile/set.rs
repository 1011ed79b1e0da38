// SPDX-License-Identifier: Apache-2.0 OR MIT

//! All rules that are in force together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tenterhook_document::{Problem, Spot};
use tenterhook_event::{Decision, Event, EventKind, Timestamp};

use super::baseline::{BASELINE, PACKS};
use super::index::Index;
use super::pressed::Rules;
use super::trust;
use crate::budget::{Budget, OwnPrices, Reported, Spending};
use crate::examples;
use crate::facts::Facts;
use crate::fnv;
use crate::load::{self, Header, wire};
use crate::prices::Prices;
use crate::rule::{Limit, Matches, Mode, Rule};
use crate::source::{Choices, Pack, Source};
use crate::state::{SessionState, StateDelta};

/// All rules that are in force together: compiled, immutable, cheap to share in an [`Arc`].
#[derive(Debug)]
pub struct RuleSet {
    pub(super) rules: Rules,
    pub(super) index: Index,
    /// The kinds of events at which something is remembered.
    pub(super) stateful: BTreeSet<EventKind>,
    pub(super) asks_for_groups: bool,
    /// Whether what models cost has to be counted.
    pub(super) has_budgets: bool,
    pub(super) prices: OwnPrices,
    pub(super) digest: u64,
    pub(super) warnings: Vec<Problem>,
}

/// What came of loading: the rules that stand, and what was refused.
#[derive(Debug)]
pub struct Loaded {
    /// The rules that stand.
    pub rules: RuleSet,
    /// What was refused, and why.
    pub problems: Vec<Problem>,
}

impl RuleSet {
    /// Loads rule files and tries every example. Never fails as a whole: a broken rule is refused
    /// alone, the rest stands.
    pub fn load(sources: &[Source<'_>]) -> Loaded {
        Self::load_with(sources, &Choices::default())
    }

    /// The same, with what somebody chose about the rules.
    pub fn load_with(sources: &[Source<'_>], choices: &Choices<'_>) -> Loaded {
        Self::read(sources, choices, false)
    }

    fn read(sources: &[Source<'_>], choices: &Choices<'_>, haste: bool) -> Loaded {
        let mut loading = Loading::default();
        // A layer cannot take an id away from the layers before it, in whatever order files are given.
        let mut ordered: Vec<_> = sources.iter().collect();
        ordered.sort_by_key(|source| source.layer);
        for (number, source) in ordered.into_iter().enumerate() {
            let Some(file) = load::read(source, haste, &mut loading.problems) else { continue };
            for (spot, wire) in file.rules {
                loading.take(wire, &file.header, number, spot, source);
            }
        }
        loading.look_at_overrides();
        loading.choose(choices);
        let Loading { rules, mut problems, warnings, .. } = loading;
        let index = Index::new(&rules);
        let kinds = rules.iter().filter(|rule| rule.is_stateful()).flat_map(|rule| &rule.matcher.events);
        let mut stateful: BTreeSet<_> = kinds.flatten().copied().collect();
        let has_budgets = rules.iter().any(|rule| rule.budget().is_some());
        stateful.extend(has_budgets.then_some(EventKind::PostModel));
        let (prices, wrong) = OwnPrices::read(choices.prices);
        problems.extend(wrong);
        let digest = digest(sources, choices);
        let mut asks_for_groups = false;
        let mut see = |matcher: &super::Matcher| asks_for_groups |= matcher.group.is_some();
        for rule in &rules {
            rule.matcher.each(&mut see);
        }
        let rules = Rules::Built(rules);
        let set = Self { rules, index, stateful, asks_for_groups, has_budgets, prices, digest, warnings };
        Loaded { rules: set, problems }
    }

    /// The same as [`RuleSet::load`], but the examples of the packs compiled in are not even read,
    /// and their patterns are not built before they are needed: they cannot have changed since a test of
    /// ours tried them.
    pub fn load_in_haste(sources: &[Source<'_>]) -> Loaded {
        Self::load_in_haste_with(sources, &Choices::default())
    }

    /// The same, with what somebody chose about the rules.
    pub fn load_in_haste_with(sources: &[Source<'_>], choices: &Choices<'_>) -> Loaded {
        Self::read(sources, choices, true)
    }

    /// The packs that are in force where nobody has written a policy.
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
        self.index.concerns(kind) || self.has_budgets && kind == EventKind::PostModel
    }

    /// What models cost.
    pub fn prices(&self) -> &Prices {
        self.prices.table()
    }

    /// What an event adds to what was spent, where somebody counts it.
    pub(crate) fn spending(&self, event: &Event) -> Option<Spending> {
        self.has_budgets.then(|| Spending::of(event, self.prices()))?
    }

    /// What the transcript's totals in an event add to what was spent, where a budget counts it.
    pub(crate) fn reported(&self, event: &Event, state: &SessionState) -> Option<StateDelta> {
        self.has_budgets.then(|| Reported::delta(event, &state.reported))?
    }

    /// Whether some rule limits what may be spent.
    pub fn has_budgets(&self) -> bool {
        self.has_budgets
    }

    /// Whether the event brings usage that a budget counts, whatever its kind.
    pub fn counts_usage_of(&self, event: &Event) -> bool {
        self.has_budgets && event.detail.usage.is_some()
    }

    /// Whether what the rules say about events of this kind depends on, or changes, what is remembered
    /// of the session.
    pub fn is_stateful(&self, kind: EventKind) -> bool {
        self.stateful.contains(&kind)
    }

    /// Whether any rule asks for the groups of whoever runs the agent; finding them takes time.
    pub fn asks_for_groups(&self) -> bool {
        self.asks_for_groups
    }

    /// Whether matches of a rule are counted for all sessions together.
    pub fn counts_together(&self, rule: &str) -> bool {
        let limit = self.rule(rule).and_then(|rule| rule.limit);
        matches!(limit, Some(Limit::Matches(Matches { shared: true, .. })))
    }

    /// Whether some rule counts all sessions together.
    pub fn needs_all_sessions(&self) -> bool {
        let daily = |rule: &Rule| rule.budget().is_some_and(Budget::is_daily);
        self.rules().any(|rule| daily(rule) || self.counts_together(rule.id()))
    }

    /// How many rules there are.
    pub fn count(&self) -> usize {
        self.rules.len()
    }

    /// The rules, in order.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// The rule of this id.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.find(id)
    }

    /// What can be used but is probably not meant so, as things are at this moment.
    pub fn warnings(&self, now: Timestamp) -> Vec<Problem> {
        let expired = self.rules.iter().filter(|rule| rule.is_expired(now)).map(|rule| {
            let message = match rule.expires {
                Some(expires) => format!("it expired on {expires} and is passed over"),
                None => "it expired and is passed over".to_owned(),
            };
            rule.problem(message)
        });
        self.warnings.iter().cloned().chain(expired).collect()
    }

    /// The rules that may match an event, in order, each with the alternatives that may hold; `None`
    /// for all of them. Every rule that does match is among them.
    pub(crate) fn candidates<'s>(
        &'s self,
        event: &Event,
        facts: &Facts,
    ) -> impl Iterator<Item = (&'s Rule, Option<Vec<u16>>)> + use<'s> {
        let candidates = self.index.candidates(event, facts).into_iter();
        candidates.filter_map(|(number, parts)| {
            self.rules.with_parts(usize::try_from(number).unwrap_or(usize::MAX), parts)
        })
    }
}

/// Rules on their way into force.
#[derive(Default)]
struct Loading {
    rules: Vec<Rule>,
    taken: BTreeMap<Arc<str>, String>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl Loading {
    /// One rule, if it can be used and lives up to its examples.
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
        if let Some(first) = self.taken.get(id.as_str()) {
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
        let failures = examples::check(&rule, &examples);
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

    /// An exception to a locked rule is refused; one to a rule that is not there says nothing.
    fn look_at_overrides(&mut self) {
        let locked: BTreeMap<_, _> =
            self.rules.iter().map(|rule| (Arc::clone(&rule.id), rule.locked)).collect();
        let (problems, warnings) = (&mut self.problems, &mut self.warnings);
        self.rules.retain(|rule| {
            for id in rule.overrides.iter().filter(|id| !locked.contains_key(*id)) {
                warnings.push(rule.problem(format!("it overrides `{id}`, which is no rule in force")));
            }
            let held = rule.overrides.iter().find(|id| locked.get(*id) == Some(&true));
            if let Some(id) = held {
                let message = format!("it overrides `{id}`, which is locked");
                problems.push(rule.problem(message).hint("this rule is not in force; the others are"));
            }
            held.is_none()
        });
    }

    fn choose(&mut self, choices: &Choices<'_>) {
        let warnings = &mut self.warnings;
        for id in choices.disabled {
            if !self.rules.iter().any(|rule| rule.id() == *id) {
                let message = format!("the rule `{id}` is disabled, but there is none");
                warnings.push(Problem::whole("the choice of rules", message));
            }
        }
        self.rules.retain(|rule| {
            let disabled = choices.disabled.contains(&rule.id());
            if disabled && rule.locked {
                warnings.push(rule.problem("it is locked and cannot be disabled".to_owned()));
            }
            !disabled || rule.locked
        });
        if choices.monitor {
            for rule in self.rules.iter_mut().filter(|rule| !rule.locked) {
                rule.mode = Mode::Monitor;
            }
        }
    }
}

fn digest(sources: &[Source<'_>], choices: &Choices<'_>) -> u64 {
    let mut hash = fnv::START;
    // 0xff is in no UTF-8 text, so no two lists of sources run together into the same bytes.
    let mut add = |text: &str| hash = fnv::hash(fnv::hash(hash, text.as_bytes()), &[0xff]);
    for source in sources {
        for part in [source.layer.name(), source.name, source.text] {
            add(part);
        }
        if source.is_suspect() {
            add("untrusted");
        }
    }
    for id in choices.disabled {
        add("disabled");
        add(id);
    }
    if choices.monitor {
        add("monitor");
    }
    if let Some((_, prices)) = choices.prices {
        add("prices");
        add(prices);
    }
    hash
}
