// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures how long conditions take: `cargo run --release -p tenterhook-when --example time`.

#![expect(clippy::print_stdout, reason = "a measurement is printed")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_when::{When, WhenError};

const ROUNDS: usize = 20_000;

const CONDITIONS: &[&str] = &[
    r#"tool.class == "shell" && tool.args.command.contains("deploy")"#,
    r#"event.kind == "pre-tool" && tool.class == "shell" && tool.args.command.contains("deploy")"#,
    r#"has(tool.args.command) && tool.args.command.matches("(?i)deploy\\s+--prod")"#,
    r#"tool.paths.exists(p, p.endsWith(".env"))"#,
    r#""command" in tool.args"#,
    r#"tool.args == {"command": "x"}"#,
];

/// Conditions that exceed the budget. Measures how long it takes to detect that.
const TOO_EXPENSIVE: &[&str] = &[
    "tool.args.many.exists(a, tool.args.many.exists(b, a + b == \"no\"))",
    "tool.args.many.map(a, tool.args.many.map(b, tool.args.many)).size() == 0",
];

fn main() -> Result<(), WhenError> {
    let event = event(json!({"description": "ship it"}));
    let start = Instant::now();
    let _ = When::compile("true")?;
    println!("first compile       {:>10.1} µs", micros(start.elapsed()));
    let compiling = median(
        || When::compile("tool.class == \"shell\" && tool.args.command.contains(\"deploy\")").is_ok(),
        200,
    );
    println!("compile             {:>10.1} µs", micros(compiling));
    for text in CONDITIONS {
        let when = When::compile(text)?;
        let took = median(|| when.holds(black_box(&event)), ROUNDS);
        println!("{:>10.2} µs  {text}  → {:?}", micros(took), when.holds(&event));
    }
    let many: Vec<_> = (0..1000).map(|n| format!("item {n}")).collect();
    let event = self::event(json!({ "many": many }));
    for text in TOO_EXPENSIVE {
        let when = When::compile(text)?;
        let took = median(|| when.holds(black_box(&event)), 10);
        println!("{:>10.2} µs  {text}  → {:?}", micros(took), when.holds(&event));
    }
    Ok(())
}

/// An event of about 1 KiB as JSON, plus the arguments in `more`.
fn event(more: Value) -> Event {
    let mut event = Event::new(
        EventId::from_parts(1_763_193_600_000, 7),
        Timestamp::from_unix_ms(1_763_193_600_000),
        "claude-code",
        EventKind::PreTool,
        "PreToolUse",
    );
    event.cwd = Some("/home/somebody/work/project".to_owned());
    let mut args = more;
    if let Some(args) = args.as_object_mut() {
        let command = format!("cd /srv && {} && ./deploy --prod", "echo one two three four; ".repeat(30));
        args.insert("command".to_owned(), command.into());
    }
    event.tool = Some(ToolCall::new("Bash", args));
    event
}

fn median<T>(mut work: impl FnMut() -> T, rounds: usize) -> Duration {
    let mut times: Vec<_> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            let _ = black_box(work());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(rounds / 2).copied().unwrap_or_default()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
