// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compiles rules from their written form to a form that can be evaluated.

mod descriptions;
mod digest;
mod loading;
mod packs;
mod set;
mod snapshot;
mod trust;

use tenterhook_document::Spot;
use tenterhook_event::{Decision, EventKind};

use crate::budget::SpendBudget;
use crate::conditions::{OneOrMore, RuleMatcher};
use crate::error::{LimitError, RuleError};
use crate::load::{RuleFileHeader, wire};
use crate::rule::{LazyWhen, MatchLimit, RewriteAction, Rule, RuleLimit};
use crate::source::{RuleSource, SourceLayer};
use crate::state::MAX_COUNTED_MATCHES;
pub use loading::{LoadMode, LoadedRules};
pub use packs::compile_packs;
pub use set::RuleSet;

/// Default events of a rule: those that occur before an action.
const DEFAULT_EVENTS: &[EventKind] = &[EventKind::PreTool, EventKind::PermissionRequest];

/// Default events of a budget: those before a model is called or a tool runs.
const DEFAULT_BUDGET_EVENTS: &[EventKind] = &[EventKind::Prompt, EventKind::PreModel, EventKind::PreTool];

/// Compiles one rule of the file with this number, or returns every mistake in it.
pub(crate) fn compile_rule(
    wire: wire::RuleSpec,
    header: &RuleFileHeader,
    number: usize,
    spot: Spot,
    source: &RuleSource<'_>,
) -> Result<Rule, Vec<RuleError>> {
    let mut wrong = Vec::new();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_' | '/');
    if wire.id.is_empty() || !wire.id.chars().all(fits) {
        wrong.push(RuleError::InvalidId(wire.id.clone()));
    }
    if wire.locked && !matches!(source.layer, SourceLayer::Organisation | SourceLayer::Baseline) {
        wrong.push(RuleError::LockedBelowOrganisation);
    }
    let already_wrong = wrong.len();
    let verdict = Decision::from(wire.verdict);
    let objects = matches!(verdict, Decision::Ask | Decision::Deny);
    let unread = match wire.unparsed {
        Some(_) if !objects => {
            wrong.push(RuleError::UnparsedWithoutObjection);
            None
        }
        Some(wire::UnparsedVerdict::Deny) => Some(Decision::Deny),
        Some(wire::UnparsedVerdict::Ask) => Some(Decision::Ask),
        Some(wire::UnparsedVerdict::Ignore) => None,
        None => objects.then_some(Decision::Ask),
    };
    let takes_snapshot = wire.on_match == Some(wire::MatchAction::Snapshot);
    if takes_snapshot && !matches!(verdict, Decision::Ask | Decision::None) {
        wrong.push(RuleError::SnapshotOfVerdict);
    }
    let labels: Vec<_> =
        wire.label.map(|labels| labels.0.into_iter().map(|label| label.0).collect()).unwrap_or_default();
    let changes = wire.rewrite.is_some();
    let rewrite = wire.rewrite.map(|wire| compile_rewrite(wire, objects)).transpose();
    let rewrite = rewrite.unwrap_or_else(|error| {
        wrong.push(error);
        None
    });
    // In a file where the first matching rule decides, a rule without an effect of its own shadows later rules.
    let idle = verdict == Decision::None && labels.is_empty() && !changes && !takes_snapshot;
    if idle && header.order != wire::RuleOrder::First {
        wrong.push(RuleError::NoEffect);
    }
    let limit = wire.limit.map(|wire| compile_limit(&wire, objects)).transpose().unwrap_or_else(|error| {
        wrong.push(error.into());
        None
    });
    let mut matcher = wire.matches;
    wrong.extend(matcher.normalize().err().map(RuleError::from));
    let usual = usual_events(matches!(limit, Some(RuleLimit::Budget(_))));
    let kinds = matcher.event.get_or_insert_with(|| OneOrMore(usual.to_vec())).0.clone();
    let overrides = wire.overrides.map(|ids| ids.0).unwrap_or_default();
    if wrong.len() == already_wrong {
        let overrides = check_overrides(&wire.id, &overrides, verdict, &matcher, source.layer);
        let satisfiable = matcher.check_satisfiable(&kinds).map_err(RuleError::from);
        wrong.extend([satisfiable, overrides].into_iter().filter_map(Result::err));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(Rule {
        id: wire.id.as_str().into(),
        description: wire.description.trim().to_owned(),
        severity: wire.severity,
        mode: wire.mode.unwrap_or(header.mode),
        layer: source.layer,
        source: source.name.to_owned(),
        line: spot.line,
        matcher,
        verdict,
        unread,
        reason: wire.reason.as_deref().map(|reason| reason.trim().to_owned()),
        nudge: wire.nudge.as_deref().map(|nudge| nudge.trim().to_owned()),
        when: wire.when.map(|when| LazyWhen::new(when.0)),
        rewrite,
        limit,
        labels,
        label_lifetime_ms: wire.label_for.map(|window| window.0),
        expires: wire.expires.map(|expires| expires.0),
        overrides,
        locked: wire.locked,
        project_scripts: wire.project_scripts,
        build_machines: wire.build_machines.or(header.build_machines).unwrap_or(true),
        first_of: (header.order == wire::RuleOrder::First).then_some(number),
        fixed_reason: false,
        takes_snapshot,
    })
}

/// Returns the events that a rule applies to if it names none.
pub(crate) fn usual_events(is_budget: bool) -> &'static [EventKind] {
    if is_budget { DEFAULT_BUDGET_EVENTS } else { DEFAULT_EVENTS }
}

fn compile_rewrite(wire: wire::RewriteSpec, objects: bool) -> Result<RewriteAction, RuleError> {
    if objects {
        return Err(RuleError::RewriteOfObjection);
    }
    if wire.set.is_empty() && wire.command.is_none() {
        return Err(RuleError::EmptyRewrite);
    }
    Ok(RewriteAction { set: wire.set, command: wire.command })
}

fn compile_limit(wire: &wire::LimitSpec, objects: bool) -> Result<RuleLimit, LimitError> {
    let given =
        [("count", wire.count.is_some()), ("cost", wire.cost.is_some()), ("tokens", wire.tokens.is_some())];
    let mut given = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
    match (given.next(), given.next()) {
        (None, _) => Err(LimitError::Empty),
        (Some(one), Some(other)) => Err(LimitError::TwoAmounts(one, other)),
        (Some("count"), None) => compile_match_limit(wire).map(RuleLimit::Matches),
        (Some(_), None) if !objects => Err(LimitError::BudgetWithoutObjection),
        (Some(_), None) => SpendBudget::new(wire).map(RuleLimit::Budget),
    }
}

fn compile_match_limit(wire: &wire::LimitSpec) -> Result<MatchLimit, LimitError> {
    let count = wire.count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
    if !(1..=MAX_COUNTED_MATCHES).contains(&count) {
        return Err(LimitError::CountOutOfRange);
    }
    let window = wire.window.as_ref().ok_or(LimitError::CountWithoutWindow)?;
    if wire.unknown.is_some() {
        return Err(LimitError::UnknownWithoutBudget);
    }
    match (wire.per, wire.warn) {
        (wire::LimitScope::Day, _) => Err(LimitError::DayWithoutBudget),
        (_, Some(_)) => Err(LimitError::WarnWithoutBudget),
        (per, None) => Ok(MatchLimit { count, window_ms: window.0, shared: per == wire::LimitScope::Rule }),
    }
}

/// Refuses `overrides` in a rule that is not narrow, because overriding other rules is the strongest thing a rule can
/// do. A rule is narrow if it restricts what the call does, not only which tool is called.
fn check_overrides(
    id: &str,
    overrides: &[String],
    verdict: Decision,
    matcher: &RuleMatcher,
    layer: SourceLayer,
) -> Result<(), RuleError> {
    if overrides.is_empty() {
        return Ok(());
    }
    if verdict != Decision::Allow {
        return Err(RuleError::OverridesWithoutAllow);
    }
    if !matches!(layer, SourceLayer::User | SourceLayer::Organisation) {
        return Err(RuleError::OverridesOfLayer(layer));
    }
    if !matcher.is_narrow() {
        return Err(RuleError::OverridesTooBroad);
    }
    if overrides.iter().any(|other| other == id) {
        return Err(RuleError::OverridesItself);
    }
    Ok(())
}
