// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures ten thousand sessions with a million events: how long it takes to build and read them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenterhook_event::{DecidedCall, Event, EventId, EventKind, HookCall, Outcome, Timestamp, ToolCall};
use tenterhook_ledger::{Ledger, LedgerEntry, LedgerOptions, QueuedEntry, Reader};
use tenterhook_sessions::{RebuildPool, SessionProjector};

use crate::cases::{PAYLOAD, SetupError};
use crate::daemon::BenchHome;
use crate::load::{exchange, resident};
use crate::measure::BenchResult;

const SESSION_COUNT: u64 = 10_000;
/// Events per session.
const EVENTS_PER_SESSION: u64 = 100;
/// Number of concurrent sessions.
const CONCURRENT_SESSIONS: u64 = 8;
/// Maximum time for the daemon to build its sessions.
const BUILD_TIMEOUT: Duration = Duration::from_mins(2);
/// Number of hook calls between two checks whether the sessions are built.
const HOOKS_PER_CHECK: usize = 50;

fn failed(error: impl std::fmt::Display) -> SetupError {
    SetupError(error.to_string())
}

fn clock() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0)
}

pub(crate) fn run() -> Result<Vec<BenchResult>, SetupError> {
    let mut home = BenchHome::new(None, "")?;
    let dir = home.state().join("ledger");
    fill(&dir)?;
    let mut results = Vec::new();
    for (threads, name) in [
        (1, "sessions: rebuild, each of a million events, one thread"),
        (2, "sessions: rebuild, each of a million events, two threads"),
    ] {
        let began = Instant::now();
        let sessions = SessionProjector::new(None, Arc::default());
        let leaves = sessions
            .rebuild(|| Reader::open(&dir), RebuildPool::new(threads))
            .map_err(|failure| failed(failure.message))?;
        results.push(BenchResult::of(
            name,
            Some(5_000.0).filter(|_| threads > 1),
            1,
            vec![each(began, leaves)],
        ));
    }
    let began = Instant::now();
    home.serve(&["--relaxed"])?;
    wait_until_built(&home.socket())?;
    results.push(BenchResult::of(
        "sessions: rebuild by a daemon from its start, each of a million events",
        Some(5_000.0),
        1,
        vec![each(began, SESSION_COUNT * EVENTS_PER_SESSION)],
    ));
    home.serve(&["--relaxed"])?;
    results.push(BenchResult::of(
        "sessions: a hook call while a daemon reads a million leaves",
        None,
        1,
        hook_latencies_until_built(&home.socket())?,
    ));
    let memory = vec![resident(&home)?];
    results.push(
        BenchResult::of("sessions: memory with ten thousand", Some(150.0 * 1024.0), 1, memory).in_unit("kB"),
    );
    let socket = home.socket();
    let list = (0..50).map(|_| timed(&socket, "/v1/sessions?limit=100")).collect::<Result<_, _>>()?;
    results.push(BenchResult::of("sessions: list, a hundred of ten thousand", Some(50e6), 1, list));
    let one = |number: u64| {
        timed(&socket, &format!("/v1/sessions/claude-code:{}", name(number * 37 % SESSION_COUNT)))
    };
    let show = (0..100).map(one).collect::<Result<_, _>>()?;
    results.push(BenchResult::of("sessions: show one, from the ledger", Some(50e6), 1, show));
    results.push(BenchResult::of(
        "sessions: follow, from the verdict to the news",
        Some(20e6),
        1,
        follow(&socket)?,
    ));
    Ok(results)
}

/// Time per item, in nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "a million is exact")]
fn each(began: Instant, number: u64) -> f64 {
    began.elapsed().as_secs_f64() * 1e9 / number as f64
}

fn name(session: u64) -> String {
    format!("89917c00-1a49-493b-9066-{session:012}")
}

/// Writes a ledger of sessions with prompts, tool calls and results, to-dos, and an end.
pub(crate) fn fill(dir: &Path) -> Result<(), SetupError> {
    let ledger = Ledger::open(dir, LedgerOptions::new(clock)).map_err(failed)?.ledger;
    let (tell, told) = channel();
    let began = clock();
    let mut number = 0;
    for group in 0..SESSION_COUNT / CONCURRENT_SESSIONS {
        for step in 0..EVENTS_PER_SESSION {
            for session in group * CONCURRENT_SESSIONS..(group + 1) * CONCURRENT_SESSIONS {
                let tell = tell.clone();
                let entry = entry(session, step, number, began);
                ledger
                    .append(QueuedEntry::new(entry, move |result| drop(tell.send(result))))
                    .map_err(failed)?;
                number += 1;
            }
        }
        for result in told.iter().take(usize::try_from(EVENTS_PER_SESSION * CONCURRENT_SESSIONS).unwrap_or(0))
        {
            result.map_err(failed)?;
        }
    }
    ledger.close().map_err(failed)
}

fn entry(session: u64, step: u64, number: u64, began: u64) -> LedgerEntry {
    let ts = Timestamp::from_unix_ms(began + number);
    let kind = match step {
        0 => EventKind::SessionStart,
        99 => EventKind::SessionEnd,
        _ if step % 25 == 1 => EventKind::Prompt,
        _ if step % 25 == 24 => EventKind::Stop,
        _ if step.is_multiple_of(2) => EventKind::PreTool,
        _ => EventKind::PostTool,
    };
    let mut event = Event::new(
        EventId::from_parts(began + number, u128::from(number)),
        ts,
        "claude-code",
        kind,
        kind.name(),
    );
    event.harness_session_id = Some(name(session));
    event.cwd = Some("/home/dev/work".into());
    event.agent.user = Some("dev".into());
    match kind {
        EventKind::Prompt => {
            event.detail.prompt =
                Some("Please find out why the tests of the parser fail, and repair it.".repeat(3));
        }
        EventKind::PreTool | EventKind::PostTool => {
            let call = step / 2;
            let (tool, output) = tool(call);
            event.tool = Some(tool);
            event.tool_use_id = Some(format!("toolu_{session}_{call}"));
            event.detail.tool_output = Some(output).filter(|_| kind == EventKind::PostTool);
        }
        _ => {}
    }
    let decided = DecidedCall {
        call: &HookCall { event, native: None },
        outcome: &Outcome::default(),
        generation: "g1",
        took_us: 40,
        facts: None,
        file_effects: None,
    };
    LedgerEntry::decision(&decided, &|_| Vec::new())
}

/// Tool calls in realistic proportions: two of five are commands, with their results.
fn tool(call: u64) -> (ToolCall, Value) {
    let file = format!("/home/dev/work/src/part_{}.rs", call % 7);
    let text = "    let value = compute(&input)?;\n".repeat(12);
    match call % 10 {
        0 => (
            ToolCall::new(
                "Bash",
                json!({"command": "cargo test --workspace 2>&1 | tail -n 40", "description": "Run the tests"}),
            ),
            json!({"stdout": text, "stderr": "", "interrupted": false}),
        ),
        3 => (
            ToolCall::new("Bash", json!({"command": "git status --short"})),
            json!({"stdout": " M src/part_1.rs", "interrupted": false}),
        ),
        5 => (
            ToolCall::new(
                "Bash",
                json!({"command": "sed -i 's/old/new/' src/part_2.rs && grep -rn new src | head > /tmp/found.txt"}),
            ),
            json!({"stdout": "", "interrupted": false}),
        ),
        7 => (
            ToolCall::new("Bash", json!({"command": "ls -la src"})),
            json!({"stdout": text, "interrupted": false}),
        ),
        1 | 4 => (
            ToolCall::new("Read", json!({"file_path": file})),
            json!({"type": "text", "file": {"filePath": file, "content": text, "numLines": 12, "startLine": 1, "totalLines": 12}}),
        ),
        2 | 6 => (
            ToolCall::new(
                "Edit",
                json!({"file_path": file, "old_string": "compute(&input)?", "new_string": "compute(&input)\n        .ok()?"}),
            ),
            json!({"filePath": file, "originalFile": text, "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": ["-a", "+b", "+c"]}], "userModified": false}),
        ),
        8 => (ToolCall::new("Grep", json!({"pattern": "compute", "path": "src"})), json!({"numFiles": 3})),
        _ => (
            ToolCall::new(
                "TodoWrite",
                json!({"todos": [{"content": "Find it", "status": "completed", "activeForm": "Finding"}, {"content": "Mend it", "status": "in_progress", "activeForm": "Mending"}]}),
            ),
            json!({"oldTodos": [], "newTodos": []}),
        ),
    }
}

/// Latencies of sequential hook calls, from the daemon's start until its sessions are built.
fn hook_latencies_until_built(socket: &Path) -> Result<Vec<f64>, SetupError> {
    let mut stream = UnixStream::connect(socket)?;
    let (mut buffer, payload) = (vec![0; 1 << 16], String::from_utf8_lossy(PAYLOAD));
    let mut samples = Vec::new();
    while !has_built(socket)? {
        for _ in 0..HOOKS_PER_CHECK {
            let asked = Instant::now();
            exchange(&mut stream, &payload, &mut buffer)?;
            samples.push(asked.elapsed().as_secs_f64() * 1e9);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(samples)
}

/// Waits until the daemon has built its sessions.
fn wait_until_built(socket: &Path) -> Result<(), SetupError> {
    let began = Instant::now();
    while !has_built(socket)? {
        if began.elapsed() > BUILD_TIMEOUT {
            return Err(SetupError("the daemon does not know its sessions".into()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Whether the daemon has built its sessions.
fn has_built(socket: &Path) -> Result<bool, SetupError> {
    let known: Value = serde_json::from_slice(&get(socket, "/v1/sessions?limit=1")?).unwrap_or_default();
    Ok(known.get("all").and_then(Value::as_u64) >= Some(SESSION_COUNT))
}

fn timed(socket: &Path, path: &str) -> Result<f64, SetupError> {
    let began = Instant::now();
    get(socket, path)?;
    Ok(began.elapsed().as_secs_f64() * 1e9)
}

/// The body of a reply.
fn get(socket: &Path, path: &str) -> Result<Vec<u8>, SetupError> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: tenterhook\r\n\r\n").as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    if !answer.starts_with(b"HTTP/1.0 200") {
        return Err(SetupError(format!("{path}: {}", String::from_utf8_lossy(&answer))));
    }
    let body = answer.windows(4).position(|four| four == b"\r\n\r\n").map_or(0, |end| end + 4);
    Ok(answer.split_off(body))
}

/// Time from the reply to a hook call until a subscriber has read the event of that call.
fn follow(socket: &Path) -> Result<Vec<f64>, SetupError> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(b"GET /v1/sessions/stream HTTP/1.0\r\nHost: tenterhook\r\n\r\n")?;
    let mut lines = BufReader::new(stream).lines();
    let mut wait = |word: &str| -> Result<(), SetupError> {
        for line in lines.by_ref() {
            if line? == word {
                return Ok(());
            }
        }
        Err(SetupError("the stream ended".into()))
    };
    wait("event: hello")?;
    let mut hook = UnixStream::connect(socket)?;
    let (mut buffer, payload) = (vec![0; 1 << 16], String::from_utf8_lossy(PAYLOAD));
    let mut samples = Vec::new();
    for _ in 0..200 {
        exchange(&mut hook, &payload, &mut buffer)?;
        let answered = Instant::now();
        wait("event: tool")?;
        samples.push(answered.elapsed().as_secs_f64() * 1e9);
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(samples)
}
