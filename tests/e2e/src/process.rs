// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs a program to its end, or until a time limit.

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;
use tenterhook_harness_install::launch::run_to_end;

/// Time limit of a run. A run takes a few seconds, or half a minute on a busy machine, so a run that takes two minutes
/// is assumed to hang.
const PATIENCE: Duration = Duration::from_mins(2);

/// Output of a program that ended.
#[derive(Debug)]
pub struct Finished {
    /// Content of standard output.
    pub stdout: String,
    /// Content of standard error.
    pub stderr: String,
}

/// Runs `command` in its own process group, with output in `logs`. Output is written to files instead of pipes,
/// because a grandchild that keeps a pipe open would block the reader.
pub(crate) fn run(command: &mut Command, logs: &Path) -> Result<Finished> {
    run_within(PATIENCE, command, logs)
}

/// Runs a command and returns whether it succeeded. A failure is not an error here, because some clients fail
/// when a hook denies a call.
pub(crate) fn run_to_any_end(command: &mut Command, logs: &Path) -> Result<(bool, Finished)> {
    let (status, finished) = ended_within(PATIENCE, command, logs)?;
    Ok((status.success(), finished))
}

fn run_within(patience: Duration, command: &mut Command, logs: &Path) -> Result<Finished> {
    let (status, finished) = ended_within(patience, command, logs)?;
    ensure!(status.success(), "`{}` ended with {status}: {finished:#?}", command.get_program().display());
    Ok(finished)
}

fn ended_within(patience: Duration, command: &mut Command, logs: &Path) -> Result<(ExitStatus, Finished)> {
    fs::create_dir_all(logs)?;
    let (out, err) = (logs.join("stdout"), logs.join("stderr"));
    command.stdout(fs::File::create(&out)?.into_file());
    command.stderr(fs::File::create(&err)?.into_file());
    let status = run_to_end(command, patience, || false)
        .with_context(|| format!("cannot run `{}`", command.get_program().display()))?;
    let finished = Finished { stdout: fs::read_to_string(out)?, stderr: fs::read_to_string(err)? };
    match status {
        Some(status) => Ok((status, finished)),
        None => {
            bail!("`{}` was killed after {patience:?}: {finished:#?}", command.get_program().display())
        }
    }
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
    fn what_is_left_in_the_background_ends() {
        let beats = tempfile::NamedTempFile::new().unwrap();
        let beat = format!("while :; do echo >>'{}'; sleep 0.01; done", beats.path().display());
        sh(&format!("setsid sh -c \"{beat}\" & sleep 0.2"), PATIENCE).unwrap();

        let count = || fs::metadata(beats.path()).unwrap().len();
        let counted = count();
        std::thread::sleep(Duration::from_millis(200));
        assert!(counted > 0);
        assert_eq!(count(), counted);
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
