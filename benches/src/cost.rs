// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a whole program costs beside time: processor, page faults, memory; instructions where the machine counts
//! them. The kernel says so of every run.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cases::{PAYLOAD, SetupError};
use crate::floor::{Floor, compile};
use crate::measure::Measured;

const ROUNDS: u32 = 200;
/// A shim may have so much memory, in kB.
const SMALL: f64 = 3.0 * 1024.0;

/// A program, and what its rows are called.
pub(crate) struct Program {
    pub(crate) command: Command,
    pub(crate) cpu: &'static str,
    pub(crate) faults: &'static str,
    pub(crate) memory: &'static str,
    pub(crate) instructions: &'static str,
    /// Whether it has to be small.
    pub(crate) is_small: bool,
}

/// Names the rows of a program.
macro_rules! program {
    ($name:literal, $command:expr, $small:expr) => {
        $crate::cost::Program {
            command: $command,
            cpu: concat!($name, ", processor"),
            faults: concat!($name, ", page faults"),
            memory: concat!($name, ", memory"),
            instructions: concat!($name, ", instructions"),
            is_small: $small,
        }
    };
}
pub(crate) use program;

pub(crate) fn run(floor: &Floor, programs: Vec<Program>) -> Result<Vec<Measured>, SetupError> {
    let counter = compile(floor.dir(), "cost")?;
    let payload = floor.dir().join("payload.json");
    std::fs::write(&payload, PAYLOAD)?;
    let mut rows = Vec::new();
    for program in programs {
        let mut counted = Command::new(&counter);
        counted.arg(ROUNDS.to_string()).arg(&payload);
        let output = around(&mut counted, &program.command).stderr(Stdio::null()).output()?;
        if !output.status.success() {
            return Err(SetupError(format!("{:?}: {}", program.command, output.status)));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let column = |number: usize| {
            text.lines().filter_map(|line| line.split(' ').nth(number)?.parse().ok()).collect::<Vec<f64>>()
        };
        let most = program.is_small.then_some(SMALL);
        rows.push(Measured::of(program.cpu, None, 1, column(0)).in_unit("µs"));
        rows.push(Measured::of(program.faults, None, 1, column(1)).in_unit("faults"));
        rows.push(Measured::of(program.memory, most, 1, column(2)).in_unit("kB"));
        if let Some(instructions) = instructions(&program.command, &payload) {
            rows.push(Measured::of(program.instructions, None, ROUNDS, vec![instructions]).in_unit("instr"));
        }
    }
    Ok(rows)
}

/// The same program as the argument of another, in the same environment.
fn around<'a>(outer: &'a mut Command, inner: &Command) -> &'a mut Command {
    outer.arg(inner.get_program()).args(inner.get_args()).env_clear();
    outer.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))))
}

/// How many instructions one run takes; nothing where the machine does not count them.
fn instructions(program: &Command, payload: &Path) -> Option<f64> {
    let mut counted = Command::new("perf");
    counted.args(["stat", "-x", ",", "-e", "instructions:u", "-r", &ROUNDS.to_string(), "sh", "-c"]);
    counted.args(["exec \"$0\" \"$@\" < \"$PAYLOAD\""]);
    around(&mut counted, program).env("PAYLOAD", payload).env("PATH", "/usr/bin:/bin");
    let Ok(output) = counted.stdout(Stdio::null()).output() else { return None };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().find(|line| line.contains("instructions:u"))?.split(',').next()?.parse().ok()
}
