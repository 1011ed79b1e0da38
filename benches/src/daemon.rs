// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook call as harnesses feel it, beside what it could cost at the least; and the daemon under load.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cases::SetupError;
use crate::cost::{self, program};
use crate::floor::{self, Floor};
use crate::load;
use crate::measure::Measured;
use crate::spawn::{Turn, bare, fed, take_turns};

const C_BARE: &str = "hook: static C, bare socket round trip";
const C_BARE_ALONE: &str = "hook: static C, bare socket round trip, beside no daemon";
const C_COMMIT: &str = "hook: static C, server with a SQLite commit";

/// A home with Tenterhook in it, and perhaps a daemon. Both go with it.
pub(crate) struct Home {
    dir: tempfile::TempDir,
    program: PathBuf,
    daemon: Option<Child>,
}

impl Home {
    /// Installs the program beside this one into a new home, and starts a daemon if there is to be one.
    pub(crate) fn new(serve: Option<&[&str]>, policy: &str) -> Result<Self, SetupError> {
        Self::of(&std::env::current_exe()?.with_file_name("tenterhook"), serve, policy)
    }

    /// The same with another build of the program.
    pub(crate) fn of(program: &Path, serve: Option<&[&str]>, policy: &str) -> Result<Self, SetupError> {
        // Not the system's temporary directory: that may be memory, which needs no sync.
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR"))?;
        let mut home = Self { dir, program: program.to_owned(), daemon: None };
        if !policy.is_empty() {
            std::fs::create_dir_all(home.person().join(".config/tenterhook"))?;
            std::fs::write(home.person().join(".config/tenterhook/policy.yaml"), policy)?;
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

    /// Starts a daemon, in the place of the one that there may be, and waits until it answers.
    pub(crate) fn serve(&mut self, arguments: &[&str]) -> Result<(), SetupError> {
        self.end()?;
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

    /// Ends the daemon, if there is one.
    fn end(&mut self) -> std::io::Result<()> {
        let Some(mut daemon) = self.daemon.take() else { return Ok(()) };
        daemon.kill()?;
        daemon.wait().map(drop)
    }

    pub(crate) fn person(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.person().join(".local/state/tenterhook")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.state().join("run/tenterhook.sock")
    }

    /// The daemon's process.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.daemon.as_ref().map(Child::id)
    }

    /// The program, in this home and with nothing else around it.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env_clear().env("HOME", self.person()).env("PATH", "/usr/bin:/bin");
        command
    }

    /// What a harness would run.
    pub(crate) fn hook(&self) -> Command {
        let mut command = Command::new(self.state().join("bin/tenterhook-hook"));
        command.args(["claude-code", "pre-tool-use"]).env_clear();
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

pub(crate) fn run() -> Result<Vec<Measured>, SetupError> {
    let mut results = spawned()?;
    results.extend(ready()?);
    results.extend(load::run()?);
    Ok(results)
}

/// What somebody who picks something else would run.
fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command
}

fn turn(name: &'static str, command: Command) -> Turn {
    Turn { name, limit: None, run: fed(command) }
}

/// What is compared takes turns with its floor and nothing else. A program that fills the caches between two
/// calls makes all that follow slower, and the floor, which has little to fetch again, least: the last group
/// shows that.
fn spawned() -> Result<Vec<Measured>, SetupError> {
    let floor = floor::Floor::new()?;
    let (relaxed, durable) = (Home::new(Some(&["--relaxed"]), "")?, Home::new(Some(&[]), "")?);
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

fn with_daemon(floor: &Floor, relaxed: &Home, durable: &Home) -> Result<Vec<Measured>, SetupError> {
    let mut rows = take_turns(vec![
        turn(C_BARE, floor.asking(false)),
        Turn {
            name: "hook: shim, daemon up, relaxed",
            limit: Some((1.25, C_BARE)),
            run: fed(relaxed.hook()),
        },
    ])?;
    rows.extend(take_turns(vec![
        turn(C_COMMIT, floor.asking(true)),
        Turn {
            name: "hook: shim, daemon up, durable",
            limit: Some((1.3, C_COMMIT)),
            run: fed(durable.hook()),
        },
    ])?);
    let [few, many] = [100, 10_000].map(|count| Home::new(Some(&["--relaxed"]), &load::policy(count)));
    let (few, many) = (few?, many?);
    rows.extend(take_turns(vec![
        Turn { name: "hook: /bin/true", limit: None, run: Box::new(bare) },
        turn("hook: static C that reads its input", floor.reader()),
        turn("hook: shim, relaxed, 100 rules more", few.hook()),
        turn("hook: shim, relaxed, 10,000 rules more", many.hook()),
    ])?);
    Ok(rows)
}

/// The rows of time, and those of other costs.
fn without_daemon(floor: &Floor) -> Result<(Vec<Measured>, Vec<Measured>), SetupError> {
    let alone = Home::new(None, "")?;
    let [few, many] = [100, 10_000].map(|count| Home::new(None, &load::policy(count)));
    let (few, many) = (few?, many?);
    let mut rows = take_turns(vec![
        turn(C_BARE_ALONE, floor.asking(false)),
        Turn {
            name: "hook: no daemon, judged and spooled",
            limit: Some((8.0, C_BARE_ALONE)),
            run: fed(alone.hook()),
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

/// What users would pick instead, and a hook right after each of them: an agent written for Node fills the
/// caches as well.
fn after_others(floor: &Floor, relaxed: &Home) -> Result<Vec<Measured>, SetupError> {
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

/// From the start of the process to the first answer.
fn ready() -> Result<Vec<Measured>, SetupError> {
    let mut samples = Vec::new();
    for _ in 0..10 {
        let started = Home::new(Some(&[]), "")?;
        drop(started);
        let home = Home::new(None, "")?;
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
    Ok(vec![Measured::of("daemon: from start to the first answer", Some(200e6), 1, samples)])
}
