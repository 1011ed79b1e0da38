// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Wire types → rules that can be judged by.

mod descriptions;
mod digest;
mod loading;
mod packs;
mod set;
mod snapshot;
mod trust;

use tenterhook_document::Spot;
use tenterhook_event::{Decision, EventKind};

use crate::budget::Budget;
use crate::conditions::{Matcher, OneOrMore};
use crate::load::{Header, wire};
use crate::rule::{LazyWhen, Limit, Matches, Rewrite, Rule};
use crate::source::{Layer, Source};
use crate::state::MOST_STAMPS;
pub use loading::{LoadMode, Loaded};
pub use packs::compile_packs;
pub use set::RuleSet;

/// When a rule says nothing about events, it is about what is going to happen.
const BEFORE: &[EventKind] = &[EventKind::PreTool, EventKind::PermissionRequest];

/// The same for a budget: before something is asked of a model, or done for it.
const SPENDING: &[EventKind] = &[EventKind::Prompt, EventKind::PreModel, EventKind::PreTool];

/// Compiles one rule of the `number`th file, or returns everything that is wrong with it.
pub(crate) fn rule(
    wire: wire::Rule,
    header: &Header,
    number: usize,
    spot: Spot,
    source: &Source<'_>,
) -> Result<Rule, Vec<String>> {
    let mut wrong = Vec::new();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_' | '/');
    if wire.id.is_empty() || !wire.id.chars().all(fits) {
        wrong.push(format!("`{}` is no id (small letters, digits, `-`, `.`, `_`, `/`)", wire.id));
    }
    if wire.locked && !matches!(source.layer, Layer::Organisation | Layer::Baseline) {
        wrong.push("only a rule of the organisation can be `locked`".to_owned());
    }
    let already_wrong = wrong.len();
    let verdict = Decision::from(wire.verdict);
    let guards = matches!(verdict, Decision::Ask | Decision::Deny);
    let unread = match wire.unparsed {
        Some(_) if !guards => {
            wrong.push("`unparsed` is for rules that ask or deny".to_owned());
            None
        }
        Some(wire::Unparsed::Deny) => Some(Decision::Deny),
        Some(wire::Unparsed::Ask) => Some(Decision::Ask),
        Some(wire::Unparsed::Ignore) => None,
        None => guards.then_some(Decision::Ask),
    };
    let labels: Vec<_> =
        wire.label.map(|labels| labels.0.into_iter().map(|label| label.0).collect()).unwrap_or_default();
    let changes = wire.rewrite.is_some();
    let rewrite = wire.rewrite.map(|wire| rewrite(wire, guards)).transpose();
    let rewrite = rewrite.unwrap_or_else(|error| {
        wrong.push(error);
        None
    });
    // Where the first rule that matches decides, one that says nothing keeps the later ones away.
    let idle = verdict == Decision::None && labels.is_empty() && !changes;
    if idle && header.order != wire::Order::First {
        wrong.push(
            "a rule with `verdict: none` needs a `label` or a `rewrite`, else it does nothing".to_owned(),
        );
    }
    let limit = wire.limit.map(|wire| limit(&wire, guards)).transpose().unwrap_or_else(|error| {
        wrong.push(error);
        None
    });
    let mut matcher = wire.matches;
    wrong.extend(matcher.complete().err());
    let usual = if matches!(limit, Some(Limit::Budget(_))) { SPENDING } else { BEFORE };
    let kinds = matcher.event.get_or_insert_with(|| OneOrMore(usual.to_vec())).0.clone();
    let overrides = wire.overrides.map(|ids| ids.0).unwrap_or_default();
    if wrong.len() == already_wrong {
        let overrides = may_override(&wire.id, &overrides, verdict, &matcher, source.layer);
        wrong.extend([matcher.could_match(&kinds), overrides].into_iter().filter_map(Result::err));
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
        expires: wire.expires.map(|expires| expires.0),
        overrides,
        locked: wire.locked,
        first_of: (header.order == wire::Order::First).then_some(number),
        fixed_words: false,
    })
}

fn rewrite(wire: wire::Rewrite, guards: bool) -> Result<Rewrite, String> {
    if guards {
        return Err("`rewrite` goes with `verdict: allow` or `verdict: none`".to_owned());
    }
    if wire.set.is_empty() && wire.command.is_none() {
        return Err("`rewrite` changes nothing: it needs `set` or `command`".to_owned());
    }
    Ok(Rewrite { set: wire.set, command: wire.command })
}

fn limit(wire: &wire::Limit, guards: bool) -> Result<Limit, String> {
    let given =
        [("count", wire.count.is_some()), ("cost", wire.cost.is_some()), ("tokens", wire.tokens.is_some())];
    let mut given = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
    match (given.next(), given.next()) {
        (None, _) => Err("`limit` needs a `count`, a `cost` or `tokens`".to_owned()),
        (Some(one), Some(other)) => Err(format!("`limit` has `{one}` and `{other}`; write two rules")),
        (Some("count"), None) => matches(wire).map(Limit::Matches),
        (Some(_), None) if !guards => Err("a budget goes with `verdict: ask` or `verdict: deny`".to_owned()),
        (Some(_), None) => Budget::new(wire).map(Limit::Budget),
    }
}

fn matches(wire: &wire::Limit) -> Result<Matches, String> {
    let count = wire.count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
    if !(1..=MOST_STAMPS).contains(&count) {
        return Err(format!("`limit.count` must be from 1 to {MOST_STAMPS}"));
    }
    let window = wire.window.as_ref().ok_or("`limit.count` needs a `window`, such as `1h`")?;
    if wire.unknown.is_some() {
        return Err("`unknown` is for a budget, with `cost` or `tokens`".to_owned());
    }
    match (wire.per, wire.warn) {
        (wire::Per::Day, _) => Err("`per: day` is for a budget; say `window: 1d`".to_owned()),
        (_, Some(_)) => Err("`warn` is for a budget, with `cost` or `tokens`".to_owned()),
        (per, None) => Ok(Matches { count, window_ms: window.0, shared: per == wire::Per::Rule }),
    }
}

/// Setting rules aside is the strongest thing a rule can do.
fn may_override(
    id: &str,
    overrides: &[String],
    verdict: Decision,
    matcher: &Matcher,
    layer: Layer,
) -> Result<(), String> {
    if overrides.is_empty() {
        return Ok(());
    }
    if verdict != Decision::Allow {
        return Err("only a rule with `verdict: allow` has `overrides`".to_owned());
    }
    if !matches!(layer, Layer::User | Layer::Organisation) {
        return Err(format!("a rule of the {layer} layer cannot override others"));
    }
    if !matcher.is_narrow() {
        return Err("a rule with `overrides` must say narrowly what it allows: with `shell`, `effect`, `path`, `url`, \
                    `host`, `mcp`, `package` or `regex`"
            .to_owned());
    }
    if overrides.iter().any(|other| other == id) {
        return Err("a rule cannot override itself".to_owned());
    }
    Ok(())
}
