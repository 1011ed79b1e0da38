// SPDX-License-Identifier: Apache-2.0 OR MIT

//! No family of hostile texts takes long to analyse and evaluate.
//!
//! In an optimised build (`make fuzz`), a megabyte may take 200 ms of processor time. Without optimisation,
//! the texts are smaller and may take twenty times as long.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "this is a test with helpers")]

mod families;

use std::time::Duration;

use families::{CODE, SHELL};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use tenterhook_event::{Event, EventId, EventKind, Timestamp, ToolCall};
use tenterhook_policy::{EvalEnvironment, RuleSet, SessionState, facts, judge};

const SLOW_BUILD: bool = cfg!(debug_assertions);
/// Sizes of the texts in bytes.
const SIZES: &[usize] = if SLOW_BUILD { &[1 << 10] } else { &[1 << 11, 1 << 13, 60_000, 1 << 20] };
const MAX_CPU_TIME: Duration = Duration::from_millis(if SLOW_BUILD { 4_000 } else { 200 });

/// Memory limit of the test. No text needs more.
const MEMORY_BYTES: u64 = 4 << 30;

fn thread_cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

/// Returns the shortest time of up to three runs. A run within the limit ends the measurement.
fn measure(name: &str, args: &Value, rules: &RuleSet) -> Duration {
    let (id, now) = (EventId::from_parts(0, 0), Timestamp::from_unix_ms(0));
    let mut event = Event::new(id, now, "claude-code", EventKind::PreTool, "PreToolUse");
    event.cwd = Some("/home/user/project".into());
    event.tool = Some(ToolCall::new(name, args.clone()));
    let run = || {
        let start = thread_cpu_time();
        let facts =
            facts(&event, &EvalEnvironment { home: Some("/home/user"), ..EvalEnvironment::default() });
        std::hint::black_box(judge(&event, &facts, &SessionState::default(), rules));
        thread_cpu_time().checked_sub(start).unwrap()
    };
    let mut least = run();
    for _ in 0..2 {
        if least > MAX_CPU_TIME && least < 10 * MAX_CPU_TIME {
            least = least.min(run());
        }
    }
    least
}

/// Measures every text of every family and reports those over the limit.
fn assert_bounded(cases: &[(String, Vec<(&str, Value)>)]) {
    setrlimit(Resource::As, Rlimit { current: Some(MEMORY_BYTES), maximum: Some(MEMORY_BYTES) }).unwrap();
    let rules = RuleSet::baseline().rules;
    let (mut wrong, mut all) = (String::new(), String::new());
    for (name, members) in cases {
        let mut took: Vec<Duration> = Vec::new();
        for (tool, args) in members {
            // If a text takes far longer than the limit, larger texts of its family are skipped, because they
            // might take minutes.
            if took.last().is_none_or(|last| *last < 5 * MAX_CPU_TIME) {
                took.push(measure(tool, args, &rules));
            }
        }
        let line = format!("{name}: {took:?}\n");
        all.push_str(&line);
        if took.iter().any(|took| *took > MAX_CPU_TIME) {
            wrong.push_str(&line);
        }
    }
    assert!(wrong.is_empty(), "over {MAX_CPU_TIME:?} for {SIZES:?} bytes:\n{wrong}\nall:\n{all}");
}

#[test]
fn shell_texts_are_bounded() {
    let case = |(name, make): &families::Family| {
        let members = SIZES.iter().map(|size| ("Bash", json!({ "command": make(*size) }))).collect();
        ((*name).to_owned(), members)
    };
    assert_bounded(&SHELL.iter().map(case).collect::<Vec<_>>());
}

#[test]
fn code_is_bounded() {
    let programs = [("python3", "-c"), ("perl", "-e")];
    let mut cases = Vec::new();
    for (program, option) in programs {
        for (name, make) in CODE {
            let members =
                SIZES.iter().map(|size| ("shell", json!({ "command": [program, option, make(*size)] })));
            cases.push((format!("{program}: {name}"), members.collect()));
        }
    }
    assert_bounded(&cases);
}

#[test]
fn arguments_are_bounded() {
    let sized = |make: &dyn Fn(usize) -> (&'static str, Value)| {
        SIZES.iter().map(|size| make(*size)).collect::<Vec<_>>()
    };
    let words = |size: usize, word: &str| vec![word.to_owned(); size / (word.len() + 1)];
    let cases = [
        ("a long argv", sized(&|size| ("shell", json!({ "command": words(size, "abc") })))),
        ("an argv of options", sized(&|size| ("shell", json!({ "command": words(size, "-r") })))),
        ("an argv of wrappers", sized(&|size| ("shell", json!({ "command": words(size, "sudo") })))),
        ("many commands", sized(&|size| ("run_commands", json!({ "commands": words(size, "rm -rf x") })))),
        (
            "many argvs",
            sized(&|size| {
                let argvs: Vec<_> = (0..size / 1000)
                    .map(|n| {
                        let mut words = vec!["rm".to_owned()];
                        words.extend((0..100).map(|m| format!("x{n}/{m}")));
                        words
                    })
                    .collect();
                ("run_commands", json!({ "commands": argvs }))
            }),
        ),
        (
            "many other paths",
            sized(&|size| {
                let files: Vec<_> = (0..size / 10).map(|n| format!("../{n}/.e")).collect();
                ("read_files", json!({ "files": files }))
            }),
        ),
        ("many paths", sized(&|size| ("read_files", json!({ "files": words(size, "../a/.env") })))),
        ("a long path", sized(&|size| ("Read", json!({ "file_path": "a/../".repeat(size / 5) })))),
        (
            "a large file",
            sized(&|size| ("Write", json!({ "file_path": "a", "content": "x = 1\n".repeat(size / 6) }))),
        ),
        (
            "a file of words",
            sized(&|size| ("Write", json!({ "file_path": "a.sh", "content": "a|".repeat(size / 2) }))),
        ),
        (
            "many edits",
            sized(&|size| {
                let edits = vec![json!({ "old_string": "a", "new_string": "b" }); size / 40];
                ("MultiEdit", json!({ "file_path": "a", "edits": edits }))
            }),
        ),
        (
            "a patch",
            sized(&|size| {
                ("apply_patch", json!({ "input": "*** Update File: a\n@@\n-a\n+b\n".repeat(size / 30) }))
            }),
        ),
        (
            "a large object",
            sized(&|size| {
                let fields = (0..size / 16).map(|n| (format!("k{n}"), json!("v")));
                ("mcp__a__b", Value::Object(fields.collect()))
            }),
        ),
        (
            "code of another tool",
            sized(&|size| ("mcp__a__b", json!({ "code": "rm -rf /; ".repeat(size / 10) }))),
        ),
        (
            "an address",
            sized(&|size| ("WebFetch", json!({ "url": format!("http://{}", "a.".repeat(size / 2)) }))),
        ),
        ("many addresses", sized(&|size| ("WebFetch", json!({ "urls": words(size, "http://a.example") })))),
    ];
    assert_bounded(&cases.map(|(name, members)| (name.to_owned(), members)));
}
