// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whole programs, spawn to exit. The machine is noisy, so programs take turns and what counts is
//! the ratio to the one that does nothing.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use tenterhook_engine::{CommandLine, Engine, Fail, Hook, Runner, say};
use tenterhook_event::{Call, EventKind};
use tenterhook_harness::dialect;

use crate::cases::{PAYLOAD, SetupError};
use crate::measure::Measured;

const ROUNDS: usize = 300;

/// Something that takes its turn.
struct Turn {
    name: &'static str,
    /// The most its median may be, as a multiple of the first turn's.
    limit: Option<f64>,
    run: Box<dyn FnMut() -> Result<(), SetupError>>,
}

pub(crate) fn run(call: &Call) -> Result<Vec<Measured>, SetupError> {
    let home = std::env::temp_dir().join(format!("tenterhook-bench-{}", std::process::id()));
    std::fs::create_dir_all(&home)?;
    let measured = take_turns(vec![
        Turn { name: "process: /bin/true, fork, exec, wait", limit: None, run: Box::new(bare) },
        Turn { name: "engine: a command hook of /bin/true", limit: Some(1.3), run: command_hook(call)? },
        Turn { name: "process: hook, no daemon, durable", limit: None, run: whole_hook(&home) },
    ]);
    std::fs::remove_dir_all(&home)?;
    measured
}

fn take_turns(mut turns: Vec<Turn>) -> Result<Vec<Measured>, SetupError> {
    let mut samples: Vec<Vec<f64>> = vec![Vec::with_capacity(ROUNDS); turns.len()];
    for _ in 0..ROUNDS {
        for (turn, taken) in turns.iter_mut().zip(&mut samples) {
            let started = Instant::now();
            (turn.run)()?;
            taken.push(started.elapsed().as_secs_f64() * 1e9);
        }
    }
    let mut measured: Vec<Measured> = Vec::with_capacity(turns.len());
    for (turn, samples) in turns.iter().zip(samples) {
        let floor = measured.first().map(|floor| floor.median_ns);
        let limit = turn.limit.zip(floor).map(|(limit, floor)| limit * floor);
        measured.push(Measured::of(turn.name, limit, 1, samples));
    }
    Ok(measured)
}

fn bare() -> Result<(), SetupError> {
    let status = Command::new("/bin/true").stdin(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(SetupError(format!("/bin/true: {status}"))) }
}

/// The same program as a hook: with its payload on standard input and both outputs read.
fn command_hook(call: &Call) -> Result<Box<dyn FnMut() -> Result<(), SetupError>>, SetupError> {
    let dialect = dialect::find("native").ok_or_else(|| SetupError("no such dialect".into()))?;
    let command = tenterhook_engine::Command {
        line: CommandLine::Exec(vec!["/bin/true".to_owned()]),
        dialect,
        env: Vec::new(),
        home: None,
        dir: "/".into(),
        output_limit: 1024,
    };
    let closure = Hook::on("true", EventKind::PreTool).fail(Fail::Closed).run(|_| async { say::nothing() });
    let hook = Hook { runner: Runner::Command(command), ..closure };
    let engine = Engine::builder().hooks([hook]).build()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let call = call.clone();
    Ok(Box::new(move || {
        let outcome = runtime.block_on(engine.fire(&call));
        if outcome.reasons.is_empty() { Ok(()) } else { Err(SetupError(format!("{:?}", outcome.reasons))) }
    }))
}

fn whole_hook(home: &Path) -> Box<dyn FnMut() -> Result<(), SetupError>> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/tenterhook");
    let mut command = Command::new(program);
    command.args(["hook", "claude-code", "pre-tool-use"]);
    command.env_clear().env("TENTERHOOK_HOME", home).env("HOME", home);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    Box::new(move || {
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(PAYLOAD)?;
        }
        let status = child.wait()?;
        if status.success() { Ok(()) } else { Err(SetupError(format!("tenterhook hook: {status}"))) }
    })
}
