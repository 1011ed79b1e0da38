// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whole programs, spawn to exit. The machine is noisy, so programs take turns and what counts is
//! the ratio to the one that does nothing.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::cases::{PAYLOAD, SetupError};
use crate::measure::Measured;

const ROUNDS: usize = 200;

pub(crate) fn run() -> Result<Vec<Measured>, SetupError> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/tenterhook");
    let home = std::env::temp_dir().join(format!("tenterhook-bench-{}", std::process::id()));
    std::fs::create_dir_all(&home)?;
    let mut hook = Command::new(&program);
    hook.args(["hook", "claude-code", "pre-tool-use"]);
    let programs =
        vec![("process: /bin/true", Command::new("/bin/true")), ("process: hook, no daemon, durable", hook)];
    let mut samples: Vec<Vec<f64>> = vec![Vec::with_capacity(ROUNDS); programs.len()];
    let mut programs: Vec<_> = programs
        .into_iter()
        .map(|(name, mut command)| {
            command.env_clear().env("TENTERHOOK_HOME", &home).env("HOME", &home);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            (name, command)
        })
        .collect();
    for _ in 0..ROUNDS {
        for ((_, command), taken) in programs.iter_mut().zip(&mut samples) {
            taken.push(once(command)?);
        }
    }
    std::fs::remove_dir_all(&home)?;
    let measured =
        programs.iter().zip(samples).map(|((name, _), samples)| Measured::of(name, None, 1, samples));
    Ok(measured.collect())
}

fn once(command: &mut Command) -> Result<f64, SetupError> {
    let started = Instant::now();
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // `/bin/true` does not read.
        drop(stdin.write_all(PAYLOAD));
    }
    let status = child.wait()?;
    let took = started.elapsed().as_secs_f64() * 1e9;
    if status.success() { Ok(took) } else { Err(SetupError(format!("{command:?}: {status}"))) }
}
