// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures costs of a whole program other than time: processor time, page faults, memory, and the number of
//! instructions if the machine counts them. The kernel reports these costs for every run.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::cases::{PAYLOAD, SetupError};
use crate::floor::{FloorPrograms, compile};
use crate::measure::BenchResult;

const ROUNDS: u32 = 200;
/// Maximum memory of a shim in kB.
const MAX_SHIM_KB: f64 = 3.0 * 1024.0;

/// A program and the names of its rows.
pub(crate) struct CostProgram {
    pub(crate) command: Command,
    pub(crate) cpu: &'static str,
    pub(crate) faults: &'static str,
    pub(crate) memory: &'static str,
    pub(crate) instructions: &'static str,
    /// Whether the program's memory has a limit.
    pub(crate) is_small: bool,
}

/// Names the rows of a program.
macro_rules! program {
    ($name:literal, $command:expr, $small:expr) => {
        $crate::cost::CostProgram {
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

pub(crate) fn run(floor: &FloorPrograms, programs: Vec<CostProgram>) -> Result<Vec<BenchResult>, SetupError> {
    let counter = compile(floor.dir(), "cost")?;
    let payload = floor.dir().join("payload.json");
    std::fs::write(&payload, PAYLOAD)?;
    let mut rows = Vec::new();
    for program in programs {
        let mut counted = Command::new(&counter);
        counted.arg(ROUNDS.to_string()).arg(&payload);
        let output = wrap_command(&mut counted, &program.command).stderr(Stdio::null()).output()?;
        if !output.status.success() {
            return Err(SetupError(format!("{:?}: {}", program.command, output.status)));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let column = |number: usize| {
            text.lines().filter_map(|line| line.split(' ').nth(number)?.parse().ok()).collect::<Vec<f64>>()
        };
        let most = program.is_small.then_some(MAX_SHIM_KB);
        rows.push(BenchResult::of(program.cpu, None, 1, column(0)).in_unit("µs"));
        rows.push(BenchResult::of(program.faults, None, 1, column(1)).in_unit("faults"));
        rows.push(BenchResult::of(program.memory, most, 1, column(2)).in_unit("kB"));
        if let Some(instructions) = instructions(&program.command, &payload) {
            rows.push(
                BenchResult::of(program.instructions, None, ROUNDS, vec![instructions]).in_unit("instr"),
            );
        }
    }
    Ok(rows)
}

/// Runs a program as the argument of another, in the same environment.
fn wrap_command<'a>(outer: &'a mut Command, inner: &Command) -> &'a mut Command {
    outer.arg(inner.get_program()).args(inner.get_args()).env_clear();
    outer.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))))
}

/// Number of instructions of one run; `None` if the machine does not count them.
fn instructions(program: &Command, payload: &Path) -> Option<f64> {
    let mut counted = Command::new("perf");
    counted.args(["stat", "-x", ",", "-e", "instructions:u", "-r", &ROUNDS.to_string(), "sh", "-c"]);
    counted.args(["exec \"$0\" \"$@\" < \"$PAYLOAD\""]);
    wrap_command(&mut counted, program).env("PAYLOAD", payload).env("PATH", "/usr/bin:/bin");
    let Ok(output) = counted.stdout(Stdio::null()).output() else { return None };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().find(|line| line.contains("instructions:u"))?.split(',').next()?.parse().ok()
}
