// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Facts and evaluation of many different commands: how long the slowest of them take.

use std::hint::black_box;
use std::time::Instant;

use serde_json::json;
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_policy::{EvalEnvironment, RuleSet, SessionState};

use crate::cases::SetupError;
use crate::measure::BenchResult;

/// Commands as agents run them, one JSON string per line.
const COMMANDS: &str = include_str!("agent-commands.jsonl");
const ROUND_COUNT: usize = 20;
/// Number of times that a command is evaluated in a round. The fastest counts, because other programs interrupt some.
const CALLS_PER_ROUND: u32 = 5;
/// Limit of p99 in nanoseconds.
const P99_LIMIT_NS: f64 = 100_000.0;

/// Measures each command, and returns the median and p99 of each round.
pub(crate) fn run() -> Result<Vec<BenchResult>, SetupError> {
    let commands = COMMANDS.lines().map(serde_json::from_str).collect::<Result<Vec<String>, _>>();
    let commands = commands.map_err(|error| SetupError(error.to_string()))?;
    let events: Vec<_> = commands.iter().map(|command| event(command)).collect();
    let (rules, state) = (RuleSet::baseline().rules, SessionState::default());
    let around = EvalEnvironment { home: Some("/home/dev"), ..EvalEnvironment::default() };
    let evaluate = |event: &Event| {
        let started = Instant::now();
        let facts = tenterhook_policy::facts(black_box(event), &around);
        black_box(tenterhook_policy::judge(event, &facts, &state, &rules));
        started.elapsed().as_secs_f64() * 1e9
    };
    // The first evaluation of a rule decodes it.
    for event in &events {
        black_box(evaluate(event));
    }
    let (mut medians, mut slowest) = (Vec::new(), Vec::new());
    for _ in 0..ROUND_COUNT {
        let fastest = |event| (0..CALLS_PER_ROUND).map(|_| evaluate(event)).fold(f64::INFINITY, f64::min);
        let mut times: Vec<f64> = events.iter().map(fastest).collect();
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times.get(times.len() * percent / 100).copied();
        medians.extend(at(50));
        slowest.extend(at(99));
    }
    Ok(vec![
        BenchResult::of("policy: agent commands, p50", None, CALLS_PER_ROUND, medians),
        BenchResult::of("policy: agent commands, p99", Some(P99_LIMIT_NS), CALLS_PER_ROUND, slowest),
    ])
}

fn event(command: &str) -> Event {
    let (id, now) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, now, "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/home/dev/work".to_owned());
    event.tool = Some(ToolCall::new("Bash", json!({ "command": command })));
    event
}
