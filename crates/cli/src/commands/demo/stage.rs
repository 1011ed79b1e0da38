// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sets up the demo's project, state directory and daemon in a temporary directory, which is deleted at the end.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tenterhook_agent::CancelToken;

use crate::ask;
use crate::context::Context;
use crate::error::CommandError;

/// Files of the project before the agent works on it.
const PROJECT_FILES: &[(&str, &str)] = &[
    ("src/cart.sh", include_str!("../../../assets/demo/cart.sh")),
    ("check.sh", include_str!("../../../assets/demo/check.sh")),
    ("deploy.sh", include_str!("../../../assets/demo/deploy.sh")),
    ("build/cart.o", "object\n"),
    ("build/cart.map", "map\n"),
];
/// Script of the model's replies.
pub(super) const SCRIPT: &str = include_str!("../../../assets/demo/session.yaml");
/// The script line that sets the pause before each of the model's answers.
const PAUSE_LINE: &str = "pace_ms: 0";
/// `HOME` of the demo's processes.
const HOME_DIRECTORY: &str = "person";
/// Script lines before and after the turn that asks the user.
const APPROVAL_MARKS: (&str, &str) = ("  # approval:", "  # end of approval\n");
const PROMPT: &str = "Issue 12: fix it, and clean up the build directory.";
/// Context size in tokens, small enough that the session is compacted.
const CONTEXT_WINDOW: &str = "4000";
const POLICY: &str = include_str!("../../../assets/demo/policy.yaml");
/// Maximum time for the agent to end after Ctrl-C before it is terminated.
const AGENT_END_DELAY: Duration = Duration::from_millis(400);
/// Maximum time for a terminated process to end.
const PROCESS_END_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct DemoStage {
    /// Dropped first, so that the daemon ends before its directory is removed.
    _daemon: DemoDaemon,
    /// Context for commands that use the demo's state directory.
    pub(super) context: Context,
    home: PathBuf,
    address: String,
    dir: tempfile::TempDir,
}

impl DemoStage {
    pub(super) fn create(context: &Context) -> Result<Self, CommandError> {
        let dir = tempfile::Builder::new().prefix("tenterhook-demo-").tempdir()?;
        for (name, text) in PROJECT_FILES {
            let path = dir.path().join("shop").join(name);
            if let Some(parent) = path.parent() {
                fs_err::create_dir_all(parent)?;
            }
            fs_err::write(path, text)?;
        }
        let program = std::env::current_exe()?;
        let server = json!({"command": program, "args": ["demo", "--mcp-server"]});
        fs_err::write(dir.path().join("mcp.json"), json!({"mcpServers": {"issues": server}}).to_string())?;
        // The files that the agent attacks are below this directory, so a failure of the guard does no harm.
        fs_err::create_dir_all(dir.path().join(HOME_DIRECTORY))?;
        let home = match &context.explicit_home {
            Some(path) => std::path::absolute(path)?,
            None => dir.path().join("home"),
        };
        fs_err::create_dir_all(&home)?;
        // A state directory that the user named has its own rules.
        if context.explicit_home.is_none() {
            fs_err::write(home.join("policy.yaml"), POLICY)?;
        }
        let (daemon, address) = DemoDaemon::start(&program, &home, &dir.path().join(HOME_DIRECTORY))?;
        let context = Context::for_home(home.clone(), context.terminal);
        Ok(Self { _daemon: daemon, context, home, address, dir })
    }

    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// Builds the command that runs the agent in a separate process, so that it is not the guarding process.
    pub(super) fn agent_command(&self, script_text: &str) -> Result<tokio::process::Command, CommandError> {
        let dir = self.dir.path();
        let script = dir.join("session.yaml");
        fs_err::write(&script, script_text)?;
        let terminal = self.context.terminal;
        // The agent's output is shown on this process's terminal, so the agent uses colors if this process does.
        let color = if terminal.has_colors() { "always" } else { "never" };
        let mut command = tokio::process::Command::new(std::env::current_exe()?);
        command.arg("--home").arg(&self.home).args(["--color", color, "agent", "run"]);
        command.args(["--prompt", PROMPT, "--permission-mode", "bypassPermissions"]);
        command.args(["--context-window", CONTEXT_WINDOW, "--provider"]);
        command.arg(format!("scripted:{}", script.display()));
        command.arg("--mcp-config").arg(dir.join("mcp.json")).arg("--cwd").arg(dir.join("shop"));
        command.env("HOME", dir.join(HOME_DIRECTORY)).kill_on_drop(true);
        Ok(command)
    }

    /// Runs the agent until it ends or `cancel` is triggered. The agent writes to this process's output.
    pub(super) async fn run_agent(&self, pause_ms: u32, cancel: &CancelToken) -> Result<(), CommandError> {
        let script = without_approval(SCRIPT).replace(PAUSE_LINE, &format!("pace_ms: {pause_ms}"));
        let mut command = self.agent_command(&script)?;
        command.stdin(Stdio::null());
        if self.context.terminal.json {
            command.stdout(Stdio::null());
        }
        let mut agent = command.spawn()?;
        match cancel.or(agent.wait()).await {
            Some(ended) if !cancel.is_cancelled() => check_exit(ended?),
            _ => {
                stop_agent(&mut agent).await;
                Ok(())
            }
        }
    }

    /// Creates a one-time link to the dashboard. Returns the daemon's address if that fails.
    pub(super) fn dashboard_link(&self) -> String {
        let home = self.context.home();
        let link = home.and_then(|home| ask::request(home, "POST", "/v1/dashboard/link", None));
        let url = link.ok().flatten().and_then(|link| link.get("url")?.as_str().map(ToOwned::to_owned));
        url.unwrap_or_else(|| self.address.clone())
    }
}

/// Waits for the agent to end, and terminates it if it does not. At a terminal the agent receives Ctrl-C directly,
/// and a second signal would interrupt its cleanup.
pub(super) async fn stop_agent(agent: &mut tokio::process::Child) {
    if tokio::time::timeout(AGENT_END_DELAY, agent.wait()).await.is_err() {
        if let Some(pid) = agent.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = tokio::time::timeout(PROCESS_END_TIMEOUT, agent.wait()).await;
    }
}

/// Fails unless the agent finished its task.
pub(super) fn check_exit(status: std::process::ExitStatus) -> Result<(), CommandError> {
    if status.success() {
        return Ok(());
    }
    Err(CommandError::internal(format!("the demo's agent did not finish: {status}")))
}

/// Removes the turn that asks the user from the script.
fn without_approval(script: &str) -> String {
    let (begin, end) = APPROVAL_MARKS;
    match (script.split_once(begin), script.split_once(end)) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => script.to_owned(),
    }
}

/// A daemon that is stopped when the demo ends.
struct DemoDaemon(Child);

impl DemoDaemon {
    /// Starts the daemon and waits for its address.
    fn start(program: &Path, home: &Path, person: &Path) -> Result<(Self, String), CommandError> {
        let log = fs_err::File::create(home.join("demo.log"))?.into_parts().0;
        let mut command = Command::new(program);
        command.arg("--home").arg(home).args(["serve", "--listen", "127.0.0.1:0"]).env("HOME", person);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        // Ctrl-C must not reach the daemon, which is stopped last.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let stdout = child.stdout.take();
        let daemon = Self(child);
        let mut ready = String::new();
        if let Some(stdout) = stdout {
            BufReader::new(stdout).read_line(&mut ready)?;
        }
        let address = ready.trim_end().rsplit_once(" and on ").map(|(_, address)| address.to_owned());
        address.map(|address| (daemon, address)).ok_or_else(|| {
            let log_text = tenterhook_home::state_file(&home.join("demo.log"));
            let log_text = log_text.ok().flatten().unwrap_or_default();
            CommandError::internal(format!(
                "the demo's daemon did not start: {}",
                log_text.lines().last().unwrap_or("no output")
            ))
        })
    }
}

impl Drop for DemoDaemon {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let began = Instant::now();
        while began.elapsed() < PROCESS_END_TIMEOUT {
            if matches!(self.0.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // The daemon did not stop in time.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
