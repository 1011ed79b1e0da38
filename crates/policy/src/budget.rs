// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Budgets: what may be spent on models before a rule speaks, and what was.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tenterhook_document::Problem;
use tenterhook_event::{Event, Timestamp, Tokens, TranscriptUsage};

use crate::load::wire;
use crate::prices::{Money, Prices};
use crate::state::{SessionState, StateDelta};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What may be spent.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Budget {
    most: Amount,
    /// From here on it is said that it comes to an end.
    warn: Option<Amount>,
    /// Whether all sessions of a day are counted together.
    daily: bool,
    /// What happens while the usage of the session cannot be read.
    unknown: wire::UnknownUsage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Amount {
    Cost(Money),
    Tokens(u64),
}

/// How it stands with a budget.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// There is enough left.
    Within,
    /// It is time to say so; this is what is remembered, so that it is said once.
    Warns(String),
    /// Nothing is left.
    UsedUp,
    /// What was used cannot be read, so that nobody can say what is left.
    Unknown,
}

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// For models that have a price.
    pub cost: Money,
    /// With all models.
    pub tokens: u64,
    /// Of those, with models that have none.
    pub unpriced: u64,
}

/// What was spent on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// The day, counted from the first of January 1970, in UTC.
    pub day: u64,
    /// What was spent.
    pub spent: Spent,
}

/// The totals that a session's transcript has reported so far. They only rise: a transcript that is edited, cut or
/// replaced takes nothing back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reported {
    /// Since the session began.
    pub total: Spent,
    /// The latest day that was reported, counted from 1970-01-01 in UTC.
    pub day: u64,
    /// On that day.
    pub of_day: Spent,
}

/// A person's own prices: as they are written, and, once they are needed, as they are used. Most have none.
#[derive(Debug, Default)]
pub(crate) struct OwnPrices {
    name: String,
    text: String,
    table: OnceLock<Prices>,
}

// === impl Budget ===

impl Budget {
    pub(crate) fn new(wire: &wire::Limit) -> Result<Self, String> {
        if wire.window.is_some() {
            return Err("a budget has no `window`; it is `per: session` or `per: day`".to_owned());
        }
        if wire.per == wire::Per::Rule {
            return Err("a budget is `per: session` or `per: day`".to_owned());
        }
        let (most, warn) = match (wire.cost, wire.tokens) {
            (Some(cost), _) => {
                (dollars("cost", cost)?, wire.warn.map(|warn| dollars("warn", warn)).transpose()?)
            }
            (None, tokens) => {
                (Amount::Tokens(tokens.unwrap_or_default()), wire.warn.map(tokens_of).transpose()?)
            }
        };
        if matches!(most, Amount::Tokens(0)) {
            return Err("`limit.tokens` must be at least 1".to_owned());
        }
        if warn.is_some_and(|warn| warn >= most) {
            return Err("`limit.warn` must be less than the budget itself".to_owned());
        }
        Ok(Self { most, warn, daily: wire.per == wire::Per::Day, unknown: wire.unknown.unwrap_or_default() })
    }

    /// Whether all sessions of a day are counted together.
    pub(crate) fn is_daily(&self) -> bool {
        self.daily
    }

    /// How it stands at an event, and that in words.
    pub(crate) fn look(&self, rule: &str, state: &SessionState, event: &Event) -> (Standing, String) {
        let day = day(event.ts);
        let today = state.today.filter(|today| today.day >= day).map(|today| today.spent);
        let spent = if self.daily { today.unwrap_or_default() } else { state.spent };
        let used = match self.most {
            Amount::Cost(_) => Amount::Cost(spent.cost),
            Amount::Tokens(_) => Amount::Tokens(spent.tokens),
        };
        let unpriced = if matches!(self.most, Amount::Cost(_)) { spent.unpriced } else { 0 };
        let mut words = self.words(used, unpriced);
        // A day's warning is said anew on the next day, and that some tokens are not counted by itself.
        let once =
            |what: &str| if self.daily { format!("{rule} {what} {day}") } else { format!("{rule} {what}") };
        let due = |due: bool, what: &str| Some(once(what)).filter(|once| due && !state.warned.contains(once));
        let nearly = self.warn.is_some_and(|warn| used >= warn);
        let unknown = event.detail.usage.as_ref().and_then(|usage| usage.unknown.as_deref());
        if let Some(why) = unknown {
            words += &format!("; what else was used is unknown: {why}");
        }
        let standing = if used >= self.most {
            Standing::UsedUp
        } else if unknown.is_some() && self.unknown == wire::UnknownUsage::Apply {
            Standing::Unknown
        } else if let Some(once) = due(unknown.is_some(), "unknown") {
            Standing::Warns(once)
        } else if let Some(once) = due(nearly, "warned").or_else(|| due(unpriced > 0, "unpriced")) {
            Standing::Warns(once)
        } else {
            Standing::Within
        };
        (standing, words)
    }

    fn words(&self, used: Amount, unpriced: u64) -> String {
        let whose = if self.daily { "today's sessions have" } else { "this session has" };
        let mut words = match (used, self.most) {
            (Amount::Cost(used), Amount::Cost(most)) => format!("{whose} cost {used} of a budget of {most}"),
            (Amount::Tokens(used), Amount::Tokens(most)) => {
                format!("{whose} used {used} of a budget of {most} tokens")
            }
            _ => String::new(),
        };
        if unpriced > 0 {
            words += &format!(", without {unpriced} tokens of models whose price is not known");
        }
        words
    }
}

fn dollars(key: &str, dollars: f64) -> Result<Amount, String> {
    if dollars.is_finite() && dollars > 0.0 && dollars <= 1e6 {
        return Ok(Amount::Cost(Money::dollars(dollars)));
    }
    Err(format!("`limit.{key}` must be a number of dollars, more than 0 and up to a million"))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is a whole number from 0 on, and a cast saturates"
)]
fn tokens_of(warn: f64) -> Result<Amount, String> {
    if warn.is_finite() && warn > 0.0 && warn.fract() == 0.0 {
        return Ok(Amount::Tokens(warn as u64));
    }
    Err("`limit.warn` must be a number of tokens".to_owned())
}

// === impl Spent ===

impl Spent {
    /// Whether it is nothing at all.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn of_usage(usage: &TranscriptUsage) -> Self {
        let cost = Money::from_microusd(usage.cost_microusd);
        Self { cost, tokens: usage.total_tokens(), unpriced: usage.unpriced_tokens }
    }

    /// What this is above another, each number by itself.
    fn beyond(self, other: Self) -> Self {
        Self {
            cost: self.cost.beyond(other.cost),
            tokens: self.tokens.saturating_sub(other.tokens),
            unpriced: self.unpriced.saturating_sub(other.unpriced),
        }
    }

    /// The greater of each number.
    fn raised_to(self, other: Self) -> Self {
        Self {
            cost: self.cost.max(other.cost),
            tokens: self.tokens.max(other.tokens),
            unpriced: self.unpriced.max(other.unpriced),
        }
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            cost: self.cost.plus(more.cost),
            tokens: self.tokens.saturating_add(more.tokens),
            unpriced: self.unpriced.saturating_add(more.unpriced),
        }
    }
}

// === impl Spending ===

impl Spending {
    /// What an event says was spent.
    pub(crate) fn of(event: &Event, prices: &Prices) -> Option<Self> {
        let tokens = Tokens::of(event)?;
        let cost = event.answering_model().and_then(|model| prices.cost(model, &tokens));
        let total = tokens.total();
        let unpriced = if cost.is_some() { 0 } else { total };
        let spent = Spent { cost: cost.unwrap_or_default(), tokens: total, unpriced };
        Some(Self { day: day(event.ts), spent })
    }

    /// With what was spent before, if that was on the same day. A clock that went back starts no new day.
    #[must_use]
    pub(crate) fn after(self, before: Option<Self>) -> Self {
        match before {
            Some(before) if before.day >= self.day => {
                Self { day: before.day, spent: before.spent.plus(self.spent) }
            }
            _ => self,
        }
    }
}

// === impl Reported ===

impl Reported {
    /// Whether nothing was reported.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The greater of both, number by number; a later day takes the place of an earlier one.
    #[must_use]
    pub(crate) fn raised_to(self, other: Self) -> Self {
        let total = self.total.raised_to(other.total);
        match self.day.cmp(&other.day) {
            std::cmp::Ordering::Less => Self { total, ..other },
            std::cmp::Ordering::Equal => Self { total, of_day: self.of_day.raised_to(other.of_day), ..self },
            std::cmp::Ordering::Greater => Self { total, ..self },
        }
    }

    /// What the totals that an event brings add to what is known of its session.
    pub(crate) fn delta(event: &Event, known: &Self) -> Option<StateDelta> {
        let usage = event.detail.usage.as_ref()?;
        let day = day(event.ts);
        let of_day = usage.today.filter(|today| today.day == day).map(|today| Spent {
            cost: Money::from_microusd(today.cost_microusd),
            tokens: today.tokens,
            unpriced: today.unpriced_tokens,
        });
        let now = Self { total: Spent::of_usage(usage), day, of_day: of_day.unwrap_or_default() };
        let known_of_day = if known.day == day { known.of_day } else { Spent::default() };
        let (added, added_today) = (now.total.beyond(known.total), now.of_day.beyond(known_of_day));
        if added.is_nothing() && added_today.is_nothing() {
            return None;
        }
        Some(StateDelta {
            spent: (!added_today.is_nothing()).then_some(Spending { day, spent: added_today }),
            earlier: added.beyond(added_today),
            reported: Some(now),
            ..StateDelta::default()
        })
    }
}

fn day(moment: Timestamp) -> u64 {
    moment.unix_ms() / DAY_MS
}

// === impl OwnPrices ===

impl OwnPrices {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned(), table: OnceLock::new() }
    }

    /// The same, read at once; what cannot be used is told.
    pub(crate) fn read(file: Option<(&str, &str)>) -> (Self, Vec<Problem>) {
        let Some((name, text)) = file else { return (Self::default(), Vec::new()) };
        let (table, problems) = Prices::with_own(name, text);
        (Self { table: OnceLock::from(table), ..Self::new(name, text) }, problems)
    }

    /// They, before those that are compiled in.
    pub(crate) fn table(&self) -> &Prices {
        if self.text.is_empty() {
            return Prices::built_in();
        }
        self.table.get_or_init(|| Prices::with_own(&self.name, &self.text).0)
    }

    /// As they are written: the name of the file, and its text.
    pub(crate) fn texts(&self) -> [&str; 2] {
        [&self.name, &self.text]
    }
}
