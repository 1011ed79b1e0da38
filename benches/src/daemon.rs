// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures hook calls as a harness experiences them, and compares them with the minimum cost. Also measures
//! the daemon under load.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cases::SetupError;
use crate::cost::{self, program};
use crate::floor::{self, FloorPrograms};
use crate::load;
use crate::measure::BenchResult;
use crate::spawn::{AlternatingProgram, bare, take_turns, with_payload};

const C_BARE: &str = "hook: static C, bare socket round trip";
const C_BARE_ALONE: &str = "hook: static C, bare socket round trip, beside no daemon";
const C_COMMIT: &str = "hook: static C, server with a SQLite commit";

/// A home directory with an installed Tenterhook and, if requested, a daemon. Dropping the value removes
/// both.
pub(crate) struct BenchHome {
    dir: tempfile::TempDir,
    program: PathBuf,
    daemon: Option<Child>,
}

impl BenchHome {
    /// Installs the program of this build into a new home directory and starts a daemon if arguments are given.
    pub(crate) fn new(serve: Option<&[&str]>, policy: &str) -> Result<Self, SetupError> {
        Self::with_program(&std::env::current_exe()?.with_file_name("tenterhook"), serve, policy)
    }

    /// Installs another build of the program.
    pub(crate) fn with_program(
        program: &Path,
        serve: Option<&[&str]>,
        policy: &str,
    ) -> Result<Self, SetupError> {
        // The system's temporary directory is not used, because it may be in memory, where a sync costs
        // nothing.
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR"))?;
        let mut home = Self { dir, program: program.to_owned(), daemon: None };
        if !policy.is_empty() {
            std::fs::create_dir_all(home.user_home().join(".config/tenterhook"))?;
            std::fs::write(home.user_home().join(".config/tenterhook/policy.yaml"), policy)?;
        }
        let installed = home.program(&["install", "claude-code", "--yes"]).stdout(Stdio::null()).status()?;
        if !installed.success() {
            return Err(SetupError(format!("install: {installed}")));
        }
        if let Some(arguments) = serve {
            home.serve(arguments)?;
        }
        Ok(home)
    }

    /// Starts a daemon, replaces a running one, and waits until it answers.
    pub(crate) fn serve(&mut self, arguments: &[&str]) -> Result<(), SetupError> {
        self.stop()?;
        let mut command = self.program(&["serve", "--listen", "none"]);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        self.daemon = Some(command.spawn()?);
        let began = Instant::now();
        while std::os::unix::net::UnixStream::connect(self.socket()).is_err() {
            if began.elapsed() > Duration::from_secs(10) {
                return Err(SetupError("the daemon does not answer".into()));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Stops the daemon, if there is one.
    fn stop(&mut self) -> std::io::Result<()> {
        let Some(mut daemon) = self.daemon.take() else { return Ok(()) };
        daemon.kill()?;
        daemon.wait().map(drop)
    }

    pub(crate) fn user_home(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.user_home().join(".local/state/tenterhook")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.state().join("run/tenterhook.sock")
    }

    /// Process id of the daemon.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.daemon.as_ref().map(Child::id)
    }

    /// The program with this home directory and an otherwise empty environment.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env_clear().env("HOME", self.user_home()).env("PATH", "/usr/bin:/bin");
        command
    }

    /// The command that a harness would run.
    pub(crate) fn hook(&self) -> Command {
        let mut command = Command::new(self.state().join("bin/tenterhook-hook"));
        command.args(["claude-code", "pre-tool-use"]).env_clear();
        command
    }
}

impl Drop for BenchHome {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

pub(crate) fn run() -> Result<Vec<BenchResult>, SetupError> {
    let mut results = spawned()?;
    results.extend(ready()?);
    results.extend(load::run()?);
    Ok(results)
}

/// A program that users could use instead.
fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command
}

fn turn(name: &'static str, command: Command) -> AlternatingProgram {
    AlternatingProgram { name, limit: None, run: with_payload(command) }
}

/// Measures hook calls. Each program alternates only with its floor, the minimal C program that it is
/// compared with. A program that fills the processor's caches between two calls slows down all programs that
/// run after it. It slows down the floor least, because the floor has little to reload. The last group of
/// rows shows this effect.
fn spawned() -> Result<Vec<BenchResult>, SetupError> {
    let floor = floor::FloorPrograms::new()?;
    let (relaxed, durable) = (BenchHome::new(Some(&["--relaxed"]), "")?, BenchHome::new(Some(&[]), "")?);
    let mut rows = with_daemon(&floor, &relaxed, &durable)?;
    let (alone, costs) = without_daemon(&floor)?;
    rows.extend(alone);
    rows.extend(after_others(&floor, &relaxed)?);
    rows.extend(cost::run(
        &floor,
        vec![
            program!("hook: static C, bare", floor.asking(false), false),
            program!("hook: shim, relaxed", relaxed.hook(), true),
            program!("hook: shim, durable", durable.hook(), true),
            program!("hook: sh", command("/bin/sh", &["-c", ":"]), false),
        ],
    )?);
    rows.extend(costs);
    Ok(rows)
}

fn with_daemon(
    floor: &FloorPrograms,
    relaxed: &BenchHome,
    durable: &BenchHome,
) -> Result<Vec<BenchResult>, SetupError> {
    let mut rows = take_turns(vec![
        turn(C_BARE, floor.asking(false)),
        AlternatingProgram {
            name: "hook: shim, daemon up, relaxed",
            limit: Some((1.25, C_BARE)),
            run: with_payload(relaxed.hook()),
        },
    ])?;
    rows.extend(take_turns(vec![
        turn(C_COMMIT, floor.asking(true)),
        AlternatingProgram {
            name: "hook: shim, daemon up, durable",
            limit: Some((1.3, C_COMMIT)),
            run: with_payload(durable.hook()),
        },
    ])?);
    let [few, many] = [100, 10_000].map(|count| BenchHome::new(Some(&["--relaxed"]), &load::policy(count)));
    let (few, many) = (few?, many?);
    rows.extend(take_turns(vec![
        AlternatingProgram { name: "hook: /bin/true", limit: None, run: Box::new(bare) },
        turn("hook: static C that reads its input", floor.reader()),
        turn("hook: shim, relaxed, 100 rules more", few.hook()),
        turn("hook: shim, relaxed, 10,000 rules more", many.hook()),
    ])?);
    Ok(rows)
}

/// Rows of times, and rows of other costs.
fn without_daemon(floor: &FloorPrograms) -> Result<(Vec<BenchResult>, Vec<BenchResult>), SetupError> {
    let alone = BenchHome::new(None, "")?;
    let [few, many] = [100, 10_000].map(|count| BenchHome::new(None, &load::policy(count)));
    let (few, many) = (few?, many?);
    let mut rows = take_turns(vec![
        turn(C_BARE_ALONE, floor.asking(false)),
        AlternatingProgram {
            name: "hook: no daemon, judged and spooled",
            limit: Some((8.0, C_BARE_ALONE)),
            run: with_payload(alone.hook()),
        },
    ])?;
    rows.extend(take_turns(vec![
        turn("hook: no daemon, 100 rules more", few.hook()),
        turn("hook: no daemon, 10,000 rules more", many.hook()),
    ])?);
    let costs = cost::run(
        floor,
        vec![
            program!("hook: no daemon", alone.hook(), false),
            program!("hook: no daemon, 10,000 rules", many.hook(), false),
        ],
    )?;
    Ok((rows, costs))
}

/// Measures programs that users could use instead, and a hook call directly after them. An agent written for
/// Node fills the processor's caches in the same way.
fn after_others(floor: &FloorPrograms, relaxed: &BenchHome) -> Result<Vec<BenchResult>, SetupError> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/node/hook.mjs");
    let mut turns = vec![turn("hook: sh that does nothing", command("sh", &["-c", ":"]))];
    for (name, program, arguments) in [
        ("hook: python3 that does nothing", "python3", vec!["-c", ""]),
        ("hook: node that does nothing", "node", vec!["-e", ""]),
        ("hook: a usual Node hook script", "node", vec![script]),
    ] {
        let there = command(program, &["--version"]).stdout(Stdio::null()).status();
        if there.is_ok_and(|status| status.success()) {
            turns.push(turn(name, command(program, &arguments)));
        }
    }
    turns.push(turn("hook: static C, bare, after Node", floor.asking(false)));
    turns.push(turn("hook: shim, relaxed, soon after Node", relaxed.hook()));
    take_turns(turns)
}

/// Time from the start of the process to the first reply.
fn ready() -> Result<Vec<BenchResult>, SetupError> {
    let mut samples = Vec::new();
    for _ in 0..10 {
        let started = BenchHome::new(Some(&[]), "")?;
        drop(started);
        let home = BenchHome::new(None, "")?;
        let began = Instant::now();
        let mut command = home.program(&["serve", "--listen", "none"]);
        let mut daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        while load::health(&home.socket()).is_err() && began.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_micros(200));
        }
        samples.push(began.elapsed().as_secs_f64() * 1e9);
        daemon.kill()?;
        daemon.wait()?;
    }
    Ok(vec![BenchResult::of("daemon: from start to the first answer", Some(200e6), 1, samples)])
}
