// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures the daemon under load. Clients keep their connections open and run on the same cores as the
//! daemon.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::cases::{PAYLOAD, SetupError};
use crate::daemon::BenchHome;
use crate::floor::compile;
use crate::measure::BenchResult;

/// Number of times that the daemon and the floor (a minimal C server) are measured in turn.
const ROUNDS: u32 = 3;
/// Minimum share of the floor's throughput that the daemon must reach.
const FLOOR_SHARE: f64 = 0.6;
/// Maximum processor time of the daemon per decision, in ns.
const MAX_CPU_NS: f64 = 80_000.0;
/// Size of a record if the ledger cannot be read.
const RECORD_BYTES: u32 = 2_048;

/// Duration of each load.
const LOAD_DURATION: Duration = Duration::from_secs(5);
/// Calls per second of a moderate load.
const MODERATE_CALLS_PER_SECOND: u32 = 2_000;

pub(crate) fn run() -> Result<Vec<BenchResult>, SetupError> {
    let home = BenchHome::new(Some(&[]), "")?;
    let idle = vec![resident(&home)?];
    let mut results =
        vec![BenchResult::of("daemon: memory when idle", Some(40.0 * 1024.0), 1, idle).in_unit("kB")];
    for (clients, name) in
        [(1, "daemon: 1 client, per durable decision"), (256, "daemon: 256 clients, per durable decision")]
    {
        let (took, latencies) = flood(&home.socket(), clients, None)?;
        results.push(BenchResult::of(name, None, 1, vec![time_per_call(took, &latencies)]));
        results.push(BenchResult::of(latency_of(clients), None, 1, latencies));
    }
    results.extend(beside_floor(&home)?);
    let (_, mut paced) = flood(&home.socket(), 32, Some(MODERATE_CALLS_PER_SECOND))?;
    paced.sort_by(f64::total_cmp);
    let p99 = paced.get(paced.len() * 99 / 100).copied().unwrap_or(f64::NAN);
    results.push(BenchResult::of("daemon: 32 clients at 2,000/s, p99", Some(5e6), 1, vec![p99]));
    for (rules, name) in
        [(100, "daemon: 32 clients, 100 rules more"), (10_000, "daemon: 32 clients, 10,000 rules more")]
    {
        let home = BenchHome::new(Some(&[]), &policy(rules))?;
        let (took, latencies) = flood(&home.socket(), 32, None)?;
        results.push(BenchResult::of(name, None, 1, vec![time_per_call(took, &latencies)]));
    }
    Ok(results)
}

/// Average time of one call, in ns.
fn time_per_call(took: Duration, latencies: &[f64]) -> f64 {
    took.as_secs_f64() * 1e9 / f64::from(u32::try_from(latencies.len().max(1)).unwrap_or(u32::MAX))
}

/// Measures 32 clients of the daemon, alternating with 32 clients of a C server that only commits the same
/// number of bytes.
fn beside_floor(home: &BenchHome) -> Result<Vec<BenchResult>, SetupError> {
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR"))?;
    let socket = dir.path().join("floor.sock");
    let mut floor = Command::new(compile(dir.path(), "groupcommit")?)
        .arg(&socket)
        .arg(dir.path().join("records"))
        .arg(record_bytes(home).to_string())
        .spawn()?;
    let measured = wait_for(&socket).and_then(|()| take_turns_with(&socket, home));
    floor.kill()?;
    floor.wait()?;
    measured
}

fn take_turns_with(floor: &Path, home: &BenchHome) -> Result<Vec<BenchResult>, SetupError> {
    let (mut floors, mut decisions, mut cpu, mut calls) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (took, latencies) = flood(floor, 32, None)?;
        floors.push(time_per_call(took, &latencies));
        let before = processor_time(home)?;
        let (took, latencies) = flood(&home.socket(), 32, None)?;
        decisions.push(time_per_call(took, &latencies));
        cpu.push(time_per_call(processor_time(home)?.saturating_sub(before), &latencies));
        calls.extend(latencies);
    }
    let floor = BenchResult::of("daemon: floor, C server, 32 clients, per commit", None, 1, floors);
    let limit = Some(floor.median_ns / FLOOR_SHARE);
    Ok(vec![
        floor,
        BenchResult::of("daemon: 32 clients, per durable decision", limit, 1, decisions),
        BenchResult::of("daemon: 32 clients, its processor time", Some(MAX_CPU_NS), 1, cpu),
        BenchResult::of(latency_of(32), None, 1, calls),
    ])
}

fn wait_for(socket: &Path) -> Result<(), SetupError> {
    let began = Instant::now();
    while UnixStream::connect(socket).is_err() {
        if began.elapsed() > Duration::from_secs(10) {
            return Err(SetupError("the C server does not answer".into()));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Size of a record of the daemon in bytes.
fn record_bytes(home: &BenchHome) -> u32 {
    let columns = ["nodes", "id", "kind", "source", "session", "tool", "verdict", "bytes", "salt", "payload"]
        .map(|column| format!("coalesce(length({column}), 0)"))
        .join(" + ");
    let sql = format!("SELECT {columns} FROM leaves ORDER BY seq DESC LIMIT 1");
    let path = home.state().join("ledger/ledger.db");
    let read = || Connection::open(path)?.query_row(&sql, [], |row| row.get(0));
    read().unwrap_or(RECORD_BYTES)
}

/// Processor time of the daemon so far, including ended threads.
fn processor_time(home: &BenchHome) -> Result<Duration, SetupError> {
    /// Clock ticks per second in `/proc`, independent of the kernel's own clock.
    const TICKS_PER_SECOND: u64 = 100;
    let pid = home.pid().ok_or_else(|| SetupError("no daemon".into()))?;
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The program's name may contain any character and ends with the last bracket. User and system time are the 12th
    // and 13th field after it.
    let (_, fields) = text.rsplit_once(')').unwrap_or_default();
    let ticks: u64 = fields.split(' ').skip(12).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

fn latency_of(clients: u32) -> &'static str {
    match clients {
        1 => "daemon: 1 client, one call",
        32 => "daemon: 32 clients, one call",
        _ => "daemon: 256 clients, one call",
    }
}

/// A policy with this many rules on programs that are never run.
pub(crate) fn policy(rules: u32) -> String {
    let rule = |number| {
        format!(
            "  - id: r{number}\n    match: {{shell: {{program: program-{number}}}}}\n    verdict: deny\n    reason: not here\n"
        )
    };
    format!("version: 1\nrules:\n{}", (0..rules).map(rule).collect::<String>())
}

/// Sends calls from several connections at once, at a given rate if there is one. Returns every latency, in ns.
pub(crate) fn flood(
    socket: &Path,
    clients: u32,
    pace: Option<u32>,
) -> Result<(Duration, Vec<f64>), SetupError> {
    let began = Instant::now();
    let latencies = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..clients).map(|_| scope.spawn(|| ask_on(socket, clients, pace))).collect();
        let mut all = Vec::new();
        for worker in workers {
            match worker.join() {
                Ok(Ok(latencies)) => all.extend(latencies),
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(SetupError("a client broke off".into())),
            }
        }
        Ok(all)
    })?;
    Ok((began.elapsed(), latencies))
}

fn ask_on(socket: &Path, clients: u32, pace: Option<u32>) -> Result<Vec<f64>, SetupError> {
    let mut stream = UnixStream::connect(socket)?;
    let description = "Run the tests of the whole workspace. ".repeat(12);
    let payload =
        String::from_utf8_lossy(PAYLOAD).replacen('{', &format!("{{\"note\":\"{description}\","), 1);
    let between = pace.map(|pace| Duration::from_secs(1) * clients / pace);
    let (began, mut latencies, mut buffer) = (Instant::now(), Vec::new(), vec![0; 1 << 16]);
    while began.elapsed() < LOAD_DURATION {
        let asked = Instant::now();
        exchange(&mut stream, &payload, &mut buffer)?;
        latencies.push(asked.elapsed().as_secs_f64() * 1e9);
        if let Some(rest) = between.and_then(|between| between.checked_sub(asked.elapsed())) {
            std::thread::sleep(rest);
        }
    }
    Ok(latencies)
}

/// Sends one call and reads its reply.
pub(crate) fn exchange(stream: &mut UnixStream, payload: &str, buffer: &mut [u8]) -> Result<(), SetupError> {
    let request = format!(
        "POST /v1/hooks/claude-code/pre-tool-use HTTP/1.1\r\nHost: tenterhook\r\nContent-Length: {}\r\n\r\n{payload}",
        payload.len()
    );
    stream.write_all(request.as_bytes())?;
    read_reply(stream, buffer)
}

/// Reads one reply to its end.
fn read_reply(stream: &mut UnixStream, buffer: &mut [u8]) -> Result<(), SetupError> {
    let mut used = 0;
    loop {
        let read = stream.read(buffer.get_mut(used..).unwrap_or_default())?;
        if read == 0 {
            return Err(SetupError("the daemon closed the connection".into()));
        }
        used += read;
        let so_far = buffer.get(..used).unwrap_or_default();
        let Some(end) = so_far.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(so_far.get(..end).unwrap_or_default()).to_ascii_lowercase();
        if !head.starts_with("http/1.1 200") {
            return Err(SetupError(format!("the daemon answered: {head}")));
        }
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        if used >= end + 4 + length.unwrap_or(0) {
            return Ok(());
        }
    }
}

/// Checks that the daemon answers.
pub(crate) fn health(socket: &Path) -> Result<(), SetupError> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(b"GET /v1/health HTTP/1.1\r\nHost: tenterhook\r\n\r\n")?;
    read_reply(&mut stream, &mut vec![0; 1 << 14])
}

/// Memory of the daemon, in kB.
pub(crate) fn resident(home: &BenchHome) -> Result<f64, SetupError> {
    let pid = home.pid().ok_or_else(|| SetupError("no daemon".into()))?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    Ok(line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(f64::NAN))
}
