// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures whole programs, from spawn to exit. The machine is noisy, so programs alternate, and limits apply
//! to the ratio to a program that does nothing.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

use tenterhook_engine::{CommandLine, Engine, FailMode, Hook, HookBackend, response};
use tenterhook_event::{EventKind, HookCall};
use tenterhook_harness::dialect;

use crate::cases::{PAYLOAD, SetupError};
use crate::measure::BenchResult;

const ROUNDS: usize = 300;

/// Runs a program once.
pub(crate) type Run = Box<dyn FnMut() -> Result<(), SetupError>>;

/// A program that alternates with others.
pub(crate) struct AlternatingProgram {
    pub(crate) name: &'static str,
    /// Limit of its median, as a multiple of another program's median.
    pub(crate) limit: Option<(f64, &'static str)>,
    pub(crate) run: Run,
}

const FLOOR: &str = "process: /bin/true, fork, exec, wait";

pub(crate) fn run(call: &HookCall) -> Result<Vec<BenchResult>, SetupError> {
    let hook = command_hook(call)?;
    take_turns(vec![
        AlternatingProgram { name: FLOOR, limit: None, run: Box::new(bare) },
        AlternatingProgram {
            name: "engine: a command hook of /bin/true",
            limit: Some((1.3, FLOOR)),
            run: hook,
        },
    ])
}

/// Runs all programs in turn, round after round, so that other load affects all of them alike.
pub(crate) fn take_turns(mut turns: Vec<AlternatingProgram>) -> Result<Vec<BenchResult>, SetupError> {
    let mut samples: Vec<Vec<f64>> = vec![Vec::with_capacity(ROUNDS); turns.len()];
    for _ in 0..ROUNDS {
        for (turn, taken) in turns.iter_mut().zip(&mut samples) {
            let started = Instant::now();
            (turn.run)()?;
            taken.push(started.elapsed().as_secs_f64() * 1e9);
        }
    }
    let mut measured: Vec<BenchResult> = Vec::with_capacity(turns.len());
    for (turn, samples) in turns.iter().zip(samples) {
        let limit = turn.limit.and_then(|(times, of)| {
            let other = measured.iter().find(|other| other.name == of)?;
            Some(times * other.median_ns)
        });
        measured.push(BenchResult::of(turn.name, limit, 1, samples));
    }
    Ok(measured)
}

pub(crate) fn bare() -> Result<(), SetupError> {
    let status = Command::new("/bin/true").stdin(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(SetupError(format!("/bin/true: {status}"))) }
}

/// A program as a hook: with its payload on standard input and both outputs read.
fn command_hook(call: &HookCall) -> Result<Box<dyn FnMut() -> Result<(), SetupError>>, SetupError> {
    let dialect = dialect::find("native").ok_or_else(|| SetupError("no such dialect".into()))?;
    let command = tenterhook_engine::CommandHook {
        line: CommandLine::Exec(vec!["/bin/true".to_owned()]),
        dialect,
        env: Vec::new(),
        home: None,
        dir: "/".into(),
        max_output_bytes: 1024,
    };
    let closure =
        Hook::on("true", EventKind::PreTool).fail(FailMode::Closed).run(|_| async { response::none() });
    let hook = Hook { runner: HookBackend::Command(command), ..closure };
    let engine = Engine::builder().hooks([hook]).build()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let call = call.clone();
    Ok(Box::new(move || {
        let outcome = runtime.block_on(engine.fire(&call));
        if outcome.reasons.is_empty() { Ok(()) } else { Err(SetupError(format!("{:?}", outcome.reasons))) }
    }))
}

/// A program with a payload on standard input, whose output is discarded.
pub(crate) fn with_payload(mut command: Command) -> Run {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    Box::new(move || {
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that does not read its input may have ended by now.
            let _ = stdin.write_all(PAYLOAD);
        }
        let status = child.wait()?;
        if status.success() { Ok(()) } else { Err(SetupError(format!("{command:?}: {status}"))) }
    })
}
