// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Loads the baseline and judges one command many times: for a profiler.
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_policy::{RuleSet, SessionState, Surroundings, facts, judge};

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    let command = std::env::args()
        .nth(2)
        .unwrap_or_else(|| "cd packages/web && npm run build 2>&1 | tail -n 20".into());
    let t = std::time::Instant::now();
    let loaded = RuleSet::load_in_haste(RuleSet::baseline_sources());
    println!("load {:?}", t.elapsed());
    if what == "load" {
        return;
    }
    let mut event = Event::new(
        EventId::from_parts(0, 0),
        Timestamp::from_unix_ms(0),
        "claude-code",
        EventKind::PreTool,
        "PreToolUse",
    );
    event.cwd = Some("/home/user/project".into());
    event.tool = Some(ToolCall::new("Bash", serde_json::json!({"command": command})));
    let around = Surroundings { home: Some("/home/user"), ..Default::default() };
    let state = SessionState::default();
    let n: u32 = std::env::args().nth(3).and_then(|n| n.parse().ok()).unwrap_or(2000);
    let t = std::time::Instant::now();
    for _ in 0..n {
        std::hint::black_box(facts(&event, &around));
    }
    println!("facts {:?}", t.elapsed() / n);
    let f = facts(&event, &around);
    let t = std::time::Instant::now();
    for _ in 0..n {
        std::hint::black_box(judge(&event, &f, &state, &loaded.rules));
    }
    println!("judge {:?}", t.elapsed() / n);
}
