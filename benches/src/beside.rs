// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compares two builds of the program in one run: `tenterhook-benches beside FIRST SECOND`. For a release,
//! the static build that is shipped is compared with the build of `make build`. The builds alternate, so that
//! noise affects both alike.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cases::SetupError;
use crate::daemon::BenchHome;
use crate::load;
use crate::measure::BenchResult;
use crate::spawn::{AlternatingProgram, take_turns, with_payload};

/// Maximum time of the second build, as a multiple of the first build's time.
const LIMIT_FACTOR: f64 = 1.1;
/// Number of repetitions of slow measurements.
const LOAD_ROUNDS: usize = 3;
const START_ROUNDS: usize = 15;
const READY_TIMEOUT: Duration = Duration::from_secs(10);

const HOOK_RELAXED: [&str; 2] = ["first: hook, relaxed", "second: hook, relaxed"];
const HOOK_DURABLE: [&str; 2] = ["first: hook, durable", "second: hook, durable"];
const HOOK_ALONE: [&str; 2] = ["first: hook, no daemon", "second: hook, no daemon"];
const START: [&str; 2] = ["first: daemon, start to first reply", "second: daemon, start to first reply"];
const MEMORY: [&str; 2] = ["first: daemon, idle memory", "second: daemon, idle memory"];
const LOADS: [(u32, [&str; 2], [&str; 2]); 3] = [
    (
        1,
        ["first: 1 client, per durable decision", "second: 1 client, per durable decision"],
        ["first: 1 client, latency", "second: 1 client, latency"],
    ),
    (
        32,
        ["first: 32 clients, per durable decision", "second: 32 clients, per durable decision"],
        ["first: 32 clients, latency", "second: 32 clients, latency"],
    ),
    (
        256,
        ["first: 256 clients, per durable decision", "second: 256 clients, per durable decision"],
        ["first: 256 clients, latency", "second: 256 clients, latency"],
    ),
];

/// Measures hook calls, daemon start and load of both programs.
pub(crate) fn run(programs: [&Path; 2]) -> Result<Vec<BenchResult>, SetupError> {
    let mut rows = hooks(programs, Some(&["--relaxed"]), HOOK_RELAXED)?;
    rows.extend(hooks(programs, Some(&[]), HOOK_DURABLE)?);
    rows.extend(hooks(programs, None, HOOK_ALONE)?);
    rows.extend(starts(programs)?);
    rows.extend(loads(programs)?);
    Ok(rows)
}

/// Version, target and commit of a build, as the program reports them.
pub(crate) fn describe(program: &Path) -> Result<Value, SetupError> {
    let said = Command::new(program)
        .args(["self", "info", "--json"])
        .env_clear()
        .env("HOME", "/nonexistent")
        .output()?;
    let mut info: Value =
        serde_json::from_slice(&said.stdout).map_err(|error| SetupError(error.to_string()))?;
    // The installation path depends on this machine, not on the build.
    if let Some(fields) = info.as_object_mut() {
        fields.retain(|key, _| ["version", "target", "commit"].contains(&key.as_str()));
        fields.insert("bytes".to_owned(), std::fs::metadata(program)?.len().into());
    }
    Ok(info)
}

fn homes(programs: [&Path; 2], serve: Option<&[&str]>) -> Result<[BenchHome; 2], SetupError> {
    let [first, second] = programs;
    Ok([BenchHome::with_program(first, serve, "")?, BenchHome::with_program(second, serve, "")?])
}

fn hooks(
    programs: [&Path; 2],
    serve: Option<&[&str]>,
    names: [&'static str; 2],
) -> Result<Vec<BenchResult>, SetupError> {
    let [first, second] = homes(programs, serve)?;
    take_turns(vec![
        AlternatingProgram { name: names[0], limit: None, run: with_payload(first.hook()) },
        AlternatingProgram {
            name: names[1],
            limit: Some((LIMIT_FACTOR, names[0])),
            run: with_payload(second.hook()),
        },
    ])
}

fn starts(programs: [&Path; 2]) -> Result<Vec<BenchResult>, SetupError> {
    let mut samples = [Vec::new(), Vec::new()];
    let homes = homes(programs, None)?;
    for _ in 0..START_ROUNDS {
        for (home, samples) in homes.iter().zip(&mut samples) {
            let began = Instant::now();
            let mut command = home.program(&["serve", "--listen", "none"]);
            let mut daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
            while load::health(&home.socket()).is_err() && began.elapsed() < READY_TIMEOUT {
                std::thread::sleep(Duration::from_micros(200));
            }
            samples.push(began.elapsed().as_secs_f64() * 1e9);
            daemon.kill()?;
            daemon.wait()?;
        }
    }
    Ok(pair(START, samples))
}

fn loads(programs: [&Path; 2]) -> Result<Vec<BenchResult>, SetupError> {
    let homes = homes(programs, Some(&[]))?;
    let mut rows = Vec::new();
    for (home, name) in homes.iter().zip(MEMORY) {
        rows.push(BenchResult::of(name, None, 1, vec![load::resident(home)?]).in_unit("kB"));
    }
    for (clients, names, latency_names) in LOADS {
        let (mut each, mut latencies) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        for _ in 0..LOAD_ROUNDS {
            for ((home, each), latencies) in homes.iter().zip(&mut each).zip(&mut latencies) {
                let (took, measured) = load::flood(&home.socket(), clients, None)?;
                let count = f64::from(u32::try_from(measured.len().max(1)).unwrap_or(u32::MAX));
                each.push(took.as_secs_f64() * 1e9 / count);
                latencies.extend(measured);
            }
        }
        rows.extend(pair(names, each));
        let [first, second] = latencies;
        rows.push(BenchResult::of(latency_names[0], None, 1, first));
        rows.push(BenchResult::of(latency_names[1], None, 1, second));
    }
    Ok(rows)
}

/// Creates two rows. The limit of the second row is a multiple of the first row.
fn pair(names: [&'static str; 2], samples: [Vec<f64>; 2]) -> Vec<BenchResult> {
    let [first, second] = samples;
    let first = BenchResult::of(names[0], None, 1, first);
    let limit = first.median_ns * LIMIT_FACTOR;
    vec![first, BenchResult::of(names[1], Some(limit), 1, second)]
}
