// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_event::{Attributed, EventId, EventKind, MergeMode, Modification};

use super::*;

fn event(minute: u64) -> Event {
    let ts = Timestamp::from_unix_ms(minute * MINUTE_MS);
    Event::new(EventId::from_parts(minute, 1), ts, "x", EventKind::PreTool, "PreToolUse")
}

fn step(status: TraceStatus, decision: Decision, took_us: u64) -> TraceEntry {
    let note = (status == TraceStatus::Failed).then(|| "it broke".to_owned());
    TraceEntry { by: Origin::hook("h"), status, decision, took_us, note }
}

fn outcome(steps: Vec<TraceEntry>) -> Outcome {
    Outcome { trace: steps, ..Outcome::default() }
}

#[test]
fn every_way_a_hook_can_end_is_counted() {
    let analytics = Analytics::default();
    let change = Modification::ToolInput { merge: MergeMode::Replace, value: json!({}) };
    let changed = Outcome {
        modifications: vec![Attributed { by: Origin::hook("h"), value: change }],
        ..outcome(vec![step(TraceStatus::Ran, Decision::None, 100)])
    };
    analytics.count_outcome(&event(5), &changed);
    analytics.count_outcome(&event(5), &outcome(vec![step(TraceStatus::Ran, Decision::Deny, 200)]));
    analytics.count_outcome(&event(6), &outcome(vec![step(TraceStatus::Failed, Decision::None, 300)]));
    analytics
        .count_outcome(&event(6), &outcome(vec![step(TraceStatus::TimedOut, Decision::None, 5_000_000)]));
    analytics.count_outcome(&event(6), &outcome(vec![step(TraceStatus::Skipped, Decision::None, 0)]));
    let rule = TraceEntry { by: Origin::rule("r"), ..step(TraceStatus::Matched, Decision::Deny, 1) };
    analytics.count_outcome(&event(6), &outcome(vec![rule]));
    let all = analytics.summaries(60, Timestamp::from_unix_ms(6 * MINUTE_MS));
    assert_eq!(all.len(), 1, "rules are not counted as hooks");
    let hook = &all["h"];
    let numbers = |n: &HookNumbers| (n.calls, n.failures, n.timeouts, n.blocks, n.modifications, n.skipped);
    assert_eq!(numbers(&hook.all), (4, 1, 1, 1, 1, 1));
    assert_eq!(hook.all, hook.recent);
    assert_eq!(hook.minutes.len(), 2);
    assert_eq!(numbers(&hook.minutes[0].numbers), (2, 0, 0, 1, 1, 0));
    let p50 = hook.all.p50_us.unwrap();
    assert!((200..=225).contains(&p50), "{p50}");
    let error = hook.last_error.as_ref().unwrap();
    assert_eq!((error.ts.unix_ms(), error.message.as_str()), (6 * MINUTE_MS, "no error message"));
}

#[test]
fn the_number_of_hooks_and_minutes_is_bounded() {
    let analytics = Analytics::default();
    for minute in 0..1000 {
        analytics
            .count_outcome(&event(minute), &outcome(vec![step(TraceStatus::Ran, Decision::None, minute)]));
    }
    for hook in 0..1000 {
        let by = Origin::hook(&format!("h{hook}"));
        analytics.count_outcome(
            &event(1000),
            &outcome(vec![TraceEntry { by, ..step(TraceStatus::Ran, Decision::None, 1) }]),
        );
    }
    let all = analytics.summaries(u64::MAX, Timestamp::from_unix_ms(999 * MINUTE_MS));
    assert_eq!(all.len(), MAX_TRACKED_HOOKS);
    assert_eq!((all["h"].all.calls, all["h"].minutes.len() as u64), (1000, KEPT_MINUTES));
    let recent = analytics.summaries(10, Timestamp::from_unix_ms(999 * MINUTE_MS));
    assert_eq!(recent["h"].recent.calls, 10);
}
