// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates recorded events again with other rules, as `tenterhook rules backtest` does.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use tenterhook_api::{BacktestReport, BacktestRequest, DecisionDifference, RuleEffect};
use tenterhook_error::Failure;
use tenterhook_event::Timestamp;
use tenterhook_guard::backtest::{Backtest, ReplayReport, RuleImpact, VerdictChange};
use tenterhook_home::{WorkDirs, call_meta};
use tenterhook_ledger::Reader;
use tenterhook_policy::RuleSet;
use tenterhook_records::time_spec;
use tokio::sync::Semaphore;

use super::error::{ApiError, run_blocking};
use super::extract::RequestBody;
use super::file_problems;
use super::policy::replace_user_policy;
use super::route::Route;
use crate::daemon::Daemon;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/policy/backtest", "backtestPolicy", backtest)
            .about(
                "Replays the ledger with a text in place of the user's policy: which decisions would change. Nothing is \
                 changed.",
            )
            .errors(&[422, 503]),
    ]
}

/// Allows one replay at a time, because a replay uses at least one core.
pub(super) static REPLAY_SLOT: Semaphore = Semaphore::const_new(1);

async fn backtest(
    State(daemon): State<Arc<Daemon>>,
    RequestBody(BacktestRequest { text, since, until }): RequestBody<BacktestRequest>,
) -> Result<Json<BacktestReport>, ApiError> {
    let (since, until) = (parse_time(since.as_deref())?, parse_time(until.as_deref())?);
    let Ok(_turn) = REPLAY_SLOT.try_acquire() else {
        return Err(ApiError::busy("another replay is running").hint("wait for it to end"));
    };
    run_blocking(move || run_replay(&daemon, text, since, until)).await.map(Json)
}

pub(super) fn parse_time(text: Option<&str>) -> Result<Option<Timestamp>, ApiError> {
    let hint = "write `since` and `until` as 15m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00:00Z";
    let read = text.map(|text| time_spec::parse_time_spec(text, call_meta::now_ms())).transpose();
    read.map_err(|why| ApiError::bad_request(why.to_string()).hint(hint))
}

/// Runs the replay; fails with the list of problems if the policy is invalid.
fn run_replay(
    daemon: &Daemon,
    text: String,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<BacktestReport, ApiError> {
    let mut sources = daemon.generations.sources(&WorkDirs::default());
    replace_user_policy(&mut sources, &daemon.home.policy().display().to_string(), text);
    let loaded = sources.load();
    let problems = file_problems(sources.problems.iter().chain(&loaded.problems));
    if !problems.is_empty() {
        return Err(ApiError::unusable_policy().problems(problems));
    }
    let began = Instant::now();
    let replay = replay_rules(daemon, &loaded.rules, since, until)?;
    Ok(report(replay, u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)))
}

/// Replays the ledger with these rules.
pub(super) fn replay_rules(
    daemon: &Daemon,
    rules: &RuleSet,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Result<ReplayReport, Failure> {
    let backtest = Backtest {
        rules,
        user_home: daemon.generations.user_home(),
        from_ms: since.map_or(0, Timestamp::unix_ms),
        until_ms: until.map_or(u64::MAX, Timestamp::unix_ms),
        // One core is left for hook calls.
        threads: std::thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1)),
    };
    // The replay opens its own reader, because it would block a shared one for a long time.
    let reader = Reader::open(&daemon.home.ledger()).map_err(|error| Failure::internal(error.to_string()))?;
    backtest.run(&reader, &mut |_, _| {})
}

fn report(replay: ReplayReport, took_ms: u64) -> BacktestReport {
    let ReplayReport { replayed, same, differences, unnamed, by_rule, left_out, redacted, totals: _ } =
        replay;
    let effect = |RuleImpact { stricter, looser }| RuleEffect { stricter, looser };
    BacktestReport {
        replayed,
        same,
        differences: differences.into_iter().map(decision_difference).collect(),
        unnamed,
        by_rule: by_rule.into_iter().map(|(rule, changes)| (rule, effect(changes))).collect(),
        left_out: left_out.into_iter().map(|(reason, count)| (reason.to_owned(), count)).collect(),
        redacted,
        took_ms,
    }
}

fn decision_difference(difference: VerdictChange) -> DecisionDifference {
    let VerdictChange { seq, id, what, was, was_by, now, now_by } = difference;
    DecisionDifference { seq, id, what, was, was_by, now, now_by }
}
