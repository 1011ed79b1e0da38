// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures how long shell commands in files take: `speed FILE…`. Deriving facts and evaluating rules are
//! timed separately.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for developers")]

use std::time::Instant;

use serde_json::json;
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_policy::{EvalEnvironment, RuleSet, SessionState, facts, judge};

fn main() {
    let rules = RuleSet::baseline().rules;
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).unwrap();
        let (id, now) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
        let mut event = Event::new(id, now, "claude-code", EventKind::PreTool, "PreToolUse");
        event.cwd = Some("/home/user/project".into());
        event.tool = Some(ToolCall::new("Bash", json!({ "command": text })));
        let around = EvalEnvironment { home: Some("/home/user"), ..EvalEnvironment::default() };
        let rounds = 1 + 20_000 / text.len().max(1).pow(2);
        let (mut reading, mut judging) = (f64::MAX, f64::MAX);
        let mut last = None;
        for _ in 0..rounds.max(3) {
            let start = Instant::now();
            let facts = facts(&event, &around);
            reading = reading.min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            std::hint::black_box(judge(&event, &facts, &SessionState::default(), &rules));
            judging = judging.min(start.elapsed().as_secs_f64());
            last = Some(facts);
        }
        let facts = last.unwrap();
        let unread: Vec<_> = facts.unread.iter().map(|unread| unread.why).collect();
        println!(
            "{file}: {} bytes, {} commands, facts {:.0} µs, judge {:.0} µs, unread {} {:?}",
            text.len(),
            facts.commands.len(),
            reading * 1e6,
            judging * 1e6,
            unread.len(),
            unread.first()
        );
    }
}
