// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks budgets: compares the amount spent on models with the amount after which a rule applies.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tenterhook_document::Problem;
use tenterhook_event::{Event, Timestamp, TokenCounts, TranscriptUsage};

use crate::error::LimitError;
use crate::load::wire;
use crate::prices::{Money, PriceTable};
use crate::state::{SessionState, StateDelta};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A rule's `limit` on dollars or tokens.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct SpendBudget {
    amount: BudgetAmount,
    /// Amount at which the user and the agent are warned.
    warn: Option<BudgetAmount>,
    /// Whether all sessions of a day are counted together.
    daily: bool,
    /// What the budget does while the session's usage cannot be read.
    unknown: wire::UnknownUsage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum BudgetAmount {
    Cost(Money),
    Tokens(u64),
}

/// State of a budget at an event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BudgetStatus {
    /// The budget is not used up.
    Within,
    /// A warning is due. The string is the key under which the warning is remembered, so that it is shown once.
    Warning(String),
    /// The budget is used up.
    UsedUp,
    /// The session's usage cannot be read, so the remaining budget is unknown.
    Unknown,
}

/// An amount spent on models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpendTotals {
    /// Cost of the tokens used by models that have a price.
    pub cost: Money,
    /// Number of tokens used by all models.
    pub tokens: u64,
    /// Number of tokens used by models without a price; included in `tokens`.
    pub unpriced: u64,
}

/// The amount spent on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DailySpend {
    /// Days since 1970-01-01, in UTC.
    pub day: u64,
    /// The amount spent on that day.
    pub spent: SpendTotals,
}

/// Totals that a session's transcript has reported so far. They never decrease: editing, truncating or replacing the
/// transcript does not reduce them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReportedUsage {
    /// Total since the session began.
    pub total: SpendTotals,
    /// Latest day that was reported, in days since 1970-01-01 UTC.
    pub day: u64,
    /// Total on that day.
    pub of_day: SpendTotals,
}

/// Prices in the user's own price file, parsed when they are first needed. Most users have none.
#[derive(Debug, Default)]
pub(crate) struct UserPrices {
    name: String,
    text: String,
    table: OnceLock<PriceTable>,
}

// === impl SpendBudget ===

impl SpendBudget {
    pub(crate) fn new(wire: &wire::LimitSpec) -> Result<Self, LimitError> {
        if wire.window.is_some() {
            return Err(LimitError::BudgetWithWindow);
        }
        if wire.per == wire::LimitScope::Rule {
            return Err(LimitError::BudgetPerRule);
        }
        let (amount, warn) = match (wire.cost, wire.tokens) {
            (Some(cost), _) => {
                (parse_dollars("cost", cost)?, wire.warn.map(|warn| parse_dollars("warn", warn)).transpose()?)
            }
            (None, tokens) => {
                (BudgetAmount::Tokens(tokens.unwrap_or_default()), wire.warn.map(parse_tokens).transpose()?)
            }
        };
        if matches!(amount, BudgetAmount::Tokens(0)) {
            return Err(LimitError::ZeroTokens);
        }
        if warn.is_some_and(|warn| warn >= amount) {
            return Err(LimitError::WarnAboveBudget);
        }
        Ok(Self {
            amount,
            warn,
            daily: wire.per == wire::LimitScope::Day,
            unknown: wire.unknown.unwrap_or_default(),
        })
    }

    /// Whether all sessions of a day are counted together.
    pub(crate) fn is_daily(&self) -> bool {
        self.daily
    }

    /// Returns the state of the budget at an event, with a message about it.
    pub(crate) fn check(&self, rule: &str, state: &SessionState, event: &Event) -> (BudgetStatus, String) {
        let day = unix_day(event.ts);
        let today = state.today.filter(|today| today.day >= day).map(|today| today.spent);
        let spent = if self.daily { today.unwrap_or_default() } else { state.spent };
        let used = match self.amount {
            BudgetAmount::Cost(_) => BudgetAmount::Cost(spent.cost),
            BudgetAmount::Tokens(_) => BudgetAmount::Tokens(spent.tokens),
        };
        let unpriced = if matches!(self.amount, BudgetAmount::Cost(_)) { spent.unpriced } else { 0 };
        let mut message = self.describe(used, unpriced);
        // A daily budget warns again on the next day. Tokens without a price have a warning of their own.
        let once =
            |what: &str| if self.daily { format!("{rule} {what} {day}") } else { format!("{rule} {what}") };
        let due = |due: bool, what: &str| Some(once(what)).filter(|once| due && !state.warned.contains(once));
        let nearly = self.warn.is_some_and(|warn| used >= warn);
        let unknown = event.detail.usage.as_ref().and_then(|usage| usage.unknown.as_deref());
        if let Some(why) = unknown {
            message += &format!("; further usage is unknown: {why}");
        }
        let status = if used >= self.amount {
            BudgetStatus::UsedUp
        } else if unknown.is_some() && self.unknown == wire::UnknownUsage::Apply {
            BudgetStatus::Unknown
        } else if let Some(once) = due(unknown.is_some(), "unknown") {
            BudgetStatus::Warning(once)
        } else if let Some(once) = due(nearly, "warned").or_else(|| due(unpriced > 0, "unpriced")) {
            BudgetStatus::Warning(once)
        } else {
            BudgetStatus::Within
        };
        (status, message)
    }

    fn describe(&self, used: BudgetAmount, unpriced: u64) -> String {
        let whose = if self.daily { "today's sessions have" } else { "this session has" };
        let mut message = match (used, self.amount) {
            (BudgetAmount::Cost(used), BudgetAmount::Cost(amount)) => {
                format!("{whose} cost {used} of a budget of {amount}")
            }
            (BudgetAmount::Tokens(used), BudgetAmount::Tokens(amount)) => {
                format!("{whose} used {used} of a budget of {amount} tokens")
            }
            _ => String::new(),
        };
        if unpriced > 0 {
            message += &format!(", not counting {unpriced} tokens of models without a known price");
        }
        message
    }
}

fn parse_dollars(key: &'static str, dollars: f64) -> Result<BudgetAmount, LimitError> {
    if dollars.is_finite() && dollars > 0.0 && dollars <= 1e6 {
        return Ok(BudgetAmount::Cost(Money::from_dollars(dollars)));
    }
    Err(LimitError::InvalidDollars(key))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is whole and not negative, and the cast saturates"
)]
fn parse_tokens(warn: f64) -> Result<BudgetAmount, LimitError> {
    if warn.is_finite() && warn > 0.0 && warn.fract() == 0.0 {
        return Ok(BudgetAmount::Tokens(warn as u64));
    }
    Err(LimitError::InvalidTokens)
}

// === impl SpendTotals ===

impl SpendTotals {
    /// Whether nothing was spent.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn from_usage(usage: &TranscriptUsage) -> Self {
        let cost = Money::from_microusd(usage.cost_microusd);
        Self { cost, tokens: usage.total_tokens(), unpriced: usage.unpriced_tokens }
    }

    /// Subtracts each number of `other` from this amount; a difference below zero becomes zero.
    fn saturating_sub(self, other: Self) -> Self {
        Self {
            cost: self.cost.saturating_sub(other.cost),
            tokens: self.tokens.saturating_sub(other.tokens),
            unpriced: self.unpriced.saturating_sub(other.unpriced),
        }
    }

    /// Returns the greater value of each number.
    fn max_each(self, other: Self) -> Self {
        Self {
            cost: self.cost.max(other.cost),
            tokens: self.tokens.max(other.tokens),
            unpriced: self.unpriced.max(other.unpriced),
        }
    }

    /// Adds both amounts.
    #[must_use]
    pub fn saturating_add(self, more: Self) -> Self {
        Self {
            cost: self.cost.saturating_add(more.cost),
            tokens: self.tokens.saturating_add(more.tokens),
            unpriced: self.unpriced.saturating_add(more.unpriced),
        }
    }
}

// === impl DailySpend ===

impl DailySpend {
    /// Returns the spend that an event reports, if it reports any.
    pub(crate) fn from_event(event: &Event, prices: &PriceTable) -> Option<Self> {
        let tokens = TokenCounts::from_event(event)?;
        let cost = event.answering_model().and_then(|model| prices.cost(model, &tokens));
        let total = tokens.total();
        let unpriced = if cost.is_some() { 0 } else { total };
        let spent = SpendTotals { cost: cost.unwrap_or_default(), tokens: total, unpriced };
        Some(Self { day: unix_day(event.ts), spent })
    }

    /// Adds the spend of earlier events of the same day. A clock that is set back does not start a new day.
    #[must_use]
    pub(crate) fn add_earlier(self, before: Option<Self>) -> Self {
        match before {
            Some(before) if before.day >= self.day => {
                Self { day: before.day, spent: before.spent.saturating_add(self.spent) }
            }
            _ => self,
        }
    }
}

// === impl ReportedUsage ===

impl ReportedUsage {
    /// Whether nothing was reported.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the greater value of each number; a later day replaces an earlier one.
    #[must_use]
    pub(crate) fn max_each(self, other: Self) -> Self {
        let total = self.total.max_each(other.total);
        match self.day.cmp(&other.day) {
            std::cmp::Ordering::Less => Self { total, ..other },
            std::cmp::Ordering::Equal => Self { total, of_day: self.of_day.max_each(other.of_day), ..self },
            std::cmp::Ordering::Greater => Self { total, ..self },
        }
    }

    /// Returns what the totals reported with an event add to the totals known so far.
    pub(crate) fn delta_from_event(event: &Event, known: &Self) -> Option<StateDelta> {
        let usage = event.detail.usage.as_ref()?;
        let day = unix_day(event.ts);
        let of_day = usage.today.filter(|today| today.day == day).map(|today| SpendTotals {
            cost: Money::from_microusd(today.cost_microusd),
            tokens: today.tokens,
            unpriced: today.unpriced_tokens,
        });
        let now = Self { total: SpendTotals::from_usage(usage), day, of_day: of_day.unwrap_or_default() };
        let known_of_day = if known.day == day { known.of_day } else { SpendTotals::default() };
        let (added, added_today) =
            (now.total.saturating_sub(known.total), now.of_day.saturating_sub(known_of_day));
        if added.is_nothing() && added_today.is_nothing() {
            return None;
        }
        Some(StateDelta {
            spent: (!added_today.is_nothing()).then_some(DailySpend { day, spent: added_today }),
            earlier: added.saturating_sub(added_today),
            reported: Some(now),
            ..StateDelta::default()
        })
    }
}

/// Returns the day that contains this time, in days since 1970-01-01 UTC.
fn unix_day(time: Timestamp) -> u64 {
    time.unix_ms() / DAY_MS
}

// === impl UserPrices ===

impl UserPrices {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned(), table: OnceLock::new() }
    }

    /// Parses a price file immediately and reports the rows that cannot be used.
    pub(crate) fn load(file: Option<(&str, &str)>) -> (Self, Vec<Problem>) {
        let Some((name, text)) = file else { return (Self::default(), Vec::new()) };
        let (table, problems) = PriceTable::with_own(name, text);
        (Self { table: OnceLock::from(table), ..Self::new(name, text) }, problems)
    }

    /// Returns the user's prices, followed by the built-in ones.
    pub(crate) fn table(&self) -> &PriceTable {
        if self.text.is_empty() {
            return PriceTable::built_in();
        }
        self.table.get_or_init(|| PriceTable::with_own(&self.name, &self.text).0)
    }

    /// Returns the name and text of the price file.
    pub(crate) fn source_texts(&self) -> [&str; 2] {
        [&self.name, &self.text]
    }
}
