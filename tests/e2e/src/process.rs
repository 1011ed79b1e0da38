// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Running a program to its end, or to the end of our patience.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;
use rustix::process::{Pid, Signal, kill_process_group};

/// A client's run takes a second or two; one that takes a minute hangs.
const PATIENCE: Duration = Duration::from_mins(1);

/// Short beside the shortest run, long enough to cost nothing.
const POLL: Duration = Duration::from_millis(10);

/// A program that ended by itself and with success.
#[derive(Debug)]
pub struct Finished {
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

/// Runs `command` in its own process group, with output kept in `logs`. Output goes to files and
/// not to pipes because a grandchild that keeps a pipe open would keep us reading.
pub(crate) fn run(command: &mut Command, logs: &Path) -> Result<Finished> {
    run_within(PATIENCE, command, logs)
}

fn run_within(patience: Duration, command: &mut Command, logs: &Path) -> Result<Finished> {
    fs::create_dir_all(logs)?;
    let (out, err) = (logs.join("stdout"), logs.join("stderr"));
    command.stdin(Stdio::null()).stdout(fs::File::create(&out)?.into_file());
    command.stderr(fs::File::create(&err)?.into_file()).process_group(0);
    let mut child =
        command.spawn().with_context(|| format!("cannot start `{}`", command.get_program().display()))?;

    let status = wait(&mut child, patience)?;
    let finished = Finished { stdout: fs::read_to_string(out)?, stderr: fs::read_to_string(err)? };
    let program = command.get_program().display();
    match status {
        Some(status) => ensure!(status.success(), "`{program}` ended with {status}: {finished:#?}"),
        None => bail!("`{program}` was killed after {patience:?}: {finished:#?}"),
    }
    Ok(finished)
}

/// `None` if the group had to be killed.
fn wait(child: &mut Child, patience: Duration) -> Result<Option<ExitStatus>> {
    let deadline = Instant::now() + patience;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(POLL);
    }
    kill_process_group(Pid::from_child(child), Signal::KILL).context("cannot kill the process group")?;
    child.wait()?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, patience: Duration) -> Result<Finished> {
        let logs = tempfile::tempdir()?;
        run_within(patience, Command::new("sh").args(["-c", script]), logs.path())
    }

    #[test]
    fn what_was_written_is_kept() {
        let finished = sh("echo out; echo err >&2", PATIENCE).unwrap();
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
    }

    #[test]
    fn a_failure_shows_what_was_written() {
        let error = sh("echo why >&2; exit 3", PATIENCE).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.contains("why"), "{error}");
    }

    #[test]
    fn a_hanging_program_is_killed_with_its_children() {
        let beats = tempfile::NamedTempFile::new().unwrap();
        let beat = format!("while :; do echo >>'{}'; sleep 0.01; done", beats.path().display());
        let error = sh(&format!("({beat}) & wait"), Duration::from_millis(300)).unwrap_err().to_string();
        assert!(error.contains("was killed after 300ms"), "{error}");

        let count = || fs::metadata(beats.path()).unwrap().len();
        let counted = count();
        std::thread::sleep(Duration::from_millis(200));
        assert!(counted > 0);
        assert_eq!(count(), counted);
    }
}
