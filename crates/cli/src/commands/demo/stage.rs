// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where the demo takes place: a small project, a home and a daemon. All of it goes when it is over.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tenterhook_agent::Cancel;

use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::Terminal;

/// The project before the agent works on it.
const PROJECT: &[(&str, &str)] = &[
    ("src/cart.sh", include_str!("../../../assets/demo/cart.sh")),
    ("check.sh", include_str!("../../../assets/demo/check.sh")),
    ("deploy.sh", include_str!("../../../assets/demo/deploy.sh")),
    ("build/cart.o", "object\n"),
    ("build/cart.map", "map\n"),
];
const SCRIPT: &str = include_str!("../../../assets/demo/session.yaml");
/// How long each answer of the model takes, as the script has it.
const PACE: &str = "pace_ms: 1300";
/// The home directory of the demo's person.
const PERSON: &str = "person";
/// The turn that somebody has to answer is between these lines.
const APPROVAL: (&str, &str) = ("  # approval:", "  # end of approval\n");
const PROMPT: &str = "Issue 12: mend it, and tidy up the build directory.";
/// So small that the session outgrows it.
const CONTEXT_WINDOW: &str = "4000";
const POLICY: &str = include_str!("../../../assets/demo/policy.yaml");
/// How long the agent may take to hear by itself that it is to end.
const MOMENT: Duration = Duration::from_millis(400);
/// How long whoever was told may take to end.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Stage {
    /// Ended first.
    _daemon: Daemon,
    /// The commands of this program, in the demo's home.
    pub(super) context: Context,
    home: PathBuf,
    address: String,
    dir: tempfile::TempDir,
}

impl Stage {
    pub(super) fn set(context: &Context) -> Result<Self, CommandError> {
        let dir = tempfile::Builder::new().prefix("tenterhook-demo-").tempdir()?;
        for (name, text) in PROJECT {
            let path = dir.path().join("shop").join(name);
            if let Some(parent) = path.parent() {
                fs_err::create_dir_all(parent)?;
            }
            fs_err::write(path, text)?;
        }
        let program = std::env::current_exe()?;
        let server = json!({"command": program, "args": ["demo", "--mcp-server"]});
        fs_err::write(dir.path().join("mcp.json"), json!({"mcpServers": {"issues": server}}).to_string())?;
        // What the agent tries to delete and to read is below this one, whatever the guard says.
        fs_err::create_dir_all(dir.path().join(PERSON))?;
        let home = match &context.said_home {
            Some(said) => std::path::absolute(said)?,
            None => dir.path().join("home"),
        };
        fs_err::create_dir_all(&home)?;
        // A home that stays has rules of its own.
        if context.said_home.is_none() {
            fs_err::write(home.join("policy.yaml"), POLICY)?;
        }
        let (daemon, address) = Daemon::start(&program, &home, &dir.path().join(PERSON))?;
        Ok(Self { _daemon: daemon, context: Context::at(home.clone(), context.terminal), home, address, dir })
    }

    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// Lets the agent work: a process of its own, as it always is. Whoever is guarded is not who guards.
    pub(super) async fn play(&self, in_a_hurry: bool, cancel: &Cancel) -> Result<(), CommandError> {
        let dir = self.dir.path();
        let script = dir.join("session.yaml");
        let mut text = if in_a_hurry { SCRIPT.replace(PACE, "pace_ms: 0") } else { SCRIPT.to_owned() };
        let answers = !in_a_hurry && Terminal::is_interactive();
        if !answers {
            text = without_approval(&text);
        }
        fs_err::write(&script, text)?;
        let terminal = self.context.terminal;
        let mut command = tokio::process::Command::new(std::env::current_exe()?);
        command.arg("--home").arg(&self.home).args(["--color", terminal.color_word(), "agent", "run"]);
        command.args(["--prompt", PROMPT, "--permission-mode", "bypassPermissions"]);
        command.args(["--context-window", CONTEXT_WINDOW, "--provider"]);
        command.arg(format!("scripted:{}", script.display()));
        command.arg("--mcp-config").arg(dir.join("mcp.json")).arg("--cwd").arg(dir.join("shop"));
        command.stdin(if answers { Stdio::inherit() } else { Stdio::null() }).kill_on_drop(true);
        command.env("HOME", dir.join(PERSON));
        if terminal.json {
            command.stdout(Stdio::null());
        }
        let mut agent = command.spawn()?;
        let Some(ended) = cancel.or(agent.wait()).await else {
            // At a terminal it has heard Ctrl-C as well, and a second word would cut its end short.
            if tokio::time::timeout(MOMENT, agent.wait()).await.is_err() {
                if let Some(pid) = agent.id().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
                    let _ = kill_process(pid, Signal::TERM);
                }
                let _ = tokio::time::timeout(PATIENCE, agent.wait()).await;
            }
            return Ok(());
        };
        let ended = ended?;
        if ended.success() || cancel.is_cancelled() {
            return Ok(());
        }
        Err(CommandError::failed(format!("the demo's agent did not finish: {ended}")))
    }

    /// A link to the dashboard that is good once; without one, where the daemon listens.
    pub(super) fn dashboard(&self) -> String {
        let home = self.context.home();
        let link = home.and_then(|home| ask::request(home, "POST", "/v1/dashboard/link", None));
        let url = link.ok().flatten().and_then(|link| link.get("url")?.as_str().map(ToOwned::to_owned));
        url.unwrap_or_else(|| self.address.clone())
    }
}

/// The script without the turn that somebody has to answer.
fn without_approval(script: &str) -> String {
    let (begin, end) = APPROVAL;
    match (script.split_once(begin), script.split_once(end)) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => script.to_owned(),
    }
}

/// A daemon that ends with us.
struct Daemon(Child);

impl Daemon {
    /// Starts one, and waits until it says where it listens.
    fn start(program: &Path, home: &Path, person: &Path) -> Result<(Self, String), CommandError> {
        let log = fs_err::File::create(home.join("demo.log"))?.into_parts().0;
        let mut command = Command::new(program);
        command.arg("--home").arg(home).args(["serve", "--listen", "127.0.0.1:0"]).env("HOME", person);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        // Ctrl-C is for us; the daemon is ended when everything else is.
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
            let said = tenterhook_home::state_file(&home.join("demo.log"));
            let said = said.ok().flatten().unwrap_or_default();
            CommandError::failed(format!(
                "the demo's daemon did not start: {}",
                said.lines().last().unwrap_or("it said nothing")
            ))
        })
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if matches!(self.0.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // It had its time.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
