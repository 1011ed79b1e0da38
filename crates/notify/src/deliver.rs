// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Delivers one notice to one target, within a time limit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tenterhook_engine::http_post::HttpPost;

use crate::target_message::{
    PostContent, notify_send_args, ntfy_content, osascript_args, slack_content, webhook_content,
};
use crate::{Notice, NotifySettings, NotifyTarget, TargetKind, terminal};

/// Maximum time of one delivery.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a running program is checked.
const PROGRAM_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum size of a response; its content is ignored.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// What a delivery needs to know about the environment.
#[derive(Debug, Clone, Default)]
pub struct DeliveryContext {
    /// Directories of programs, as in `PATH`.
    pub path: String,
    /// Address of the user's D-Bus session, if the environment has none.
    pub session_bus: Option<PathBuf>,
}

impl DeliveryContext {
    /// Takes what is needed from the variables of the process.
    pub fn from_variables(variables: &BTreeMap<String, String>) -> Self {
        let bus = PathBuf::from(format!("/run/user/{}/bus", rustix::process::getuid().as_raw()));
        let needs_bus = !variables.contains_key("DBUS_SESSION_BUS_ADDRESS") && bus.exists();
        Self {
            path: variables.get("PATH").cloned().unwrap_or_default(),
            session_bus: needs_bus.then_some(bus),
        }
    }
}

/// Why a notice was not delivered. Contains no URL, because URLs may contain tokens.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// No program for notifications of the desktop is installed.
    #[error("`{0}` is not on the PATH")]
    NoProgram(&'static str),
    /// The program failed or could not be started.
    #[error("`{0}` {1}")]
    Program(&'static str, String),
    /// The server cannot be reached.
    #[error("the request failed: {0}")]
    Request(String),
    /// The server refused the message.
    #[error("the server replied with HTTP status {0}")]
    Status(u16),
    /// No terminal is known whose bell could ring.
    #[error("the harness has no terminal, so no bell rings")]
    NoTerminal,
    /// The terminal cannot be written to.
    #[error("the terminal cannot be used: {0}")]
    Terminal(std::io::Error),
}

/// Delivers a notice on this thread, within five seconds.
pub fn deliver(target: &TargetKind, notice: &Notice, context: &DeliveryContext) -> Result<(), DeliveryError> {
    match target {
        TargetKind::Desktop if cfg!(target_os = "macos") => {
            run_program("osascript", &osascript_args(notice), context)
        }
        TargetKind::Desktop => run_program("notify-send", &notify_send_args(notice), context),
        TargetKind::Bell => {
            let path = notice.terminal.as_deref().ok_or(DeliveryError::NoTerminal)?;
            terminal::ring_bell(path).map_err(DeliveryError::Terminal)
        }
        TargetKind::Webhook(url) => post(url, webhook_content(notice)),
        TargetKind::Slack(url) => post(url, slack_content(notice)),
        TargetKind::Ntfy(url) => post(url, ntfy_content(notice)),
    }
}

/// Result of a test notification.
#[derive(Debug, serde::Serialize)]
pub struct TargetResult {
    /// Name of the target.
    pub target: String,
    /// Why the notification was not delivered.
    pub error: Option<String>,
}

/// Sends a test notification to each target, one after the other. The bell rings in the terminal of `pid`.
pub fn test_targets(
    settings: &NotifySettings,
    variables: &BTreeMap<String, String>,
    pid: u32,
) -> Vec<TargetResult> {
    let context = DeliveryContext::from_variables(variables);
    let mut notice = Notice::test();
    notice.terminal = i32::try_from(pid).ok().and_then(terminal::find_terminal);
    let test = |target: &NotifyTarget| {
        let error = deliver(&target.kind, &notice, &context).err().map(|error| error.to_string());
        TargetResult { target: target.name(), error }
    };
    settings.targets.iter().map(test).collect()
}

fn post(url: &str, content: PostContent) -> Result<(), DeliveryError> {
    let request = HttpPost {
        url: url.to_owned(),
        headers: content.headers,
        body: content.body.into_bytes(),
        timeout: DELIVERY_TIMEOUT,
        max_response_bytes: MAX_RESPONSE_BYTES,
    };
    match request.send() {
        Ok((status, _)) if (200..300).contains(&status) => Ok(()),
        Ok((status, _)) => Err(DeliveryError::Status(status)),
        Err(error) => Err(DeliveryError::Request(error.to_string().replace(url, "the address"))),
    }
}

/// Runs a program without a shell, and ends it if it takes too long.
fn run_program(name: &'static str, args: &[String], context: &DeliveryContext) -> Result<(), DeliveryError> {
    let program = find_program(name, &context.path).ok_or(DeliveryError::NoProgram(name))?;
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(bus) = &context.session_bus {
        command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", bus.display()));
    }
    let failed = |why: String| DeliveryError::Program(name, why);
    let mut child = command.spawn().map_err(|error| failed(format!("cannot be started: {error}")))?;
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(format!("failed with {status}"))),
            Ok(None) if started.elapsed() < DELIVERY_TIMEOUT => std::thread::sleep(PROGRAM_POLL_INTERVAL),
            _ => {
                // The result is ignored: the program may have ended in the meantime.
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed("did not end in time".to_owned()));
            }
        }
    }
}

/// Finds a program in absolute directories of the `PATH`. A relative one would depend on the working directory.
fn find_program(name: &str, path: &str) -> Option<PathBuf> {
    let directories = path.split(':').map(Path::new).filter(|directory| directory.is_absolute());
    directories.map(|directory| directory.join(name)).find(|program| is_executable(program))
}

fn is_executable(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::metadata(program).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
