// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One run of a client. The scripted model requests two harmless commands, and the hook denies one of them.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tenterhook_error::Failure;
use tenterhook_event::plain_text::strip_control_characters;
use tenterhook_files::{FileClass, read_bytes};
use tenterhook_harness::Harness;
use tenterhook_harness_install::launch::{ClientInvocation, ClientLaunch, LaunchSite, run_to_end};
use tenterhook_model_server::{ConversationScript, Delivery, ModelServer, ModelTurn, ScriptedCall};

use crate::stage::{ProofStage, RecordedHooks};
use crate::{ProofResult, ProofVerdict};

/// File that the allowed command creates.
pub(crate) const ALLOWED: &str = "canary-allowed";
/// File that the denied command would create.
pub(crate) const DENIED: &str = "canary-denied";

const PROMPT: &str = "Run the commands of the canary.";
/// Proxy address at which nothing listens, so a request that leaves the machine fails immediately.
const NO_PROXY_AT: &str = "http://127.0.0.1:9";
/// Time within which a client must print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(15);
/// Larger than the output of a client in one run.
const MAX_OUTPUT_BYTES: u64 = 16 << 20;
/// Longest part of a client's error that is shown.
const MAX_ERROR_BYTES: usize = 200;

/// A client, and the directories of its run.
pub struct Canary<'a> {
    pub(crate) harness: &'static Harness,
    pub(crate) launch: &'static ClientLaunch,
    pub(crate) program: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
    pub(crate) logs: PathBuf,
    /// `PATH` for programs that the client itself needs.
    pub(crate) path: &'a OsStr,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunEnd {
    ByItself,
    AtTimeout,
    NotStarted,
}

/// Evidence from a run.
struct RunEvidence<'a> {
    ended: RunEnd,
    recorded: &'a RecordedHooks,
    /// Number of requests from the client's agent loop to the model.
    requests: usize,
    /// Number of tool results that the client sent to the model.
    results: usize,
    allowed_ran: bool,
    denied_ran: bool,
}

impl Canary<'_> {
    /// Runs the client until it ends, the time limit has passed or the caller cancels.
    pub fn run(
        &self,
        stage: &ProofStage,
        timeout: Duration,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<ProofVerdict, Failure> {
        let call = |name: &str| {
            let request = (self.launch.shell)(&format!("touch {}", self.project.join(name).display()));
            ModelTurn::from(ScriptedCall::new(request.name, request.input))
        };
        let script = ConversationScript::new().turn(call(ALLOWED)).turn(call(DENIED));
        let pause = self.launch.event_pause_ms;
        let delivery = pause.map_or(Delivery::Whole, |pause_ms| Delivery::Paced { pause_ms });
        let model = ModelServer::start_with(script, delivery)?;
        let before = stage.record_count();
        let url = model.url();
        let site = LaunchSite { home: &self.home, project: &self.project, model: &url };
        let deadline = Instant::now() + timeout;
        let mut invocations: Vec<ClientInvocation> =
            self.launch.sign_in.iter().map(|run| run(&site)).collect();
        invocations.push((self.launch.session)(&site, PROMPT));
        let mut ended = RunEnd::ByItself;
        for invocation in &invocations {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut command = self.command(invocation)?;
            ended = match run_to_end(&mut command, left, is_cancelled) {
                Ok(Some(_)) => RunEnd::ByItself,
                Ok(None) => RunEnd::AtTimeout,
                Err(_) => RunEnd::NotStarted,
            };
            if ended != RunEnd::ByItself {
                break;
            }
        }
        let recorded = stage.recorded(self.harness, before)?;
        let verdict = self.judge(&RunEvidence {
            ended,
            recorded: &recorded,
            requests: model.agent_requests().len(),
            results: model.tool_results().len(),
            allowed_ran: self.project.join(ALLOWED).exists(),
            denied_ran: self.project.join(DENIED).exists(),
        });
        if verdict.result != ProofResult::Proven
            && !recorded.denied
            && let Err(error) = stage.check_program(&self.project)
        {
            let reason = format!("the hook program does not work: {}", shorten(&error.message));
            return Ok(ProofVerdict::new(ProofResult::NotFired, reason).fix(self.install()));
        }
        Ok(verdict)
    }

    fn judge(&self, seen: &RunEvidence<'_>) -> ProofVerdict {
        let RunEvidence { recorded, .. } = *seen;
        match (recorded.denied, seen.denied_ran) {
            (true, false) if seen.allowed_ran => {
                let reason = "the hook fired, an allowed command ran and a denied one did not";
                return ProofVerdict::new(ProofResult::Proven, reason);
            }
            (true, true) => {
                let reason = "the hook denied a command, and the client ran it";
                return ProofVerdict::new(ProofResult::NotObeyed, reason)
                    .fix("report it with the client's version");
            }
            (false, true) => {
                let reason = match recorded.events.as_slice() {
                    [] => "no hook was called, and the command that it should deny ran".to_owned(),
                    events => {
                        format!("hooks were called for {} only, and the command ran", events.join(", "))
                    }
                };
                return ProofVerdict::new(ProofResult::NotFired, reason).fix("`tenterhook doctor`");
            }
            _ => {}
        }
        let printed = self.last_error().map(|line| format!(" (it printed: {line})")).unwrap_or_default();
        let reason = match seen.ended {
            RunEnd::NotStarted => format!("`{}` cannot be started", self.program.display()),
            RunEnd::AtTimeout => format!("it did not end in time{printed}"),
            RunEnd::ByItself if seen.requests == 0 => format!("it did not call the scripted model{printed}"),
            RunEnd::ByItself if seen.results == 0 => format!("it did not run the model's commands{printed}"),
            RunEnd::ByItself => format!("it ran none of the model's commands, allowed or denied{printed}"),
        };
        ProofVerdict::not_provable(reason)
    }

    /// Version that the client prints.
    pub fn version(&self, is_cancelled: &dyn Fn() -> bool) -> Option<String> {
        let mut command =
            self.command(&ClientInvocation { args: vec!["--version".into()], env: Vec::new() }).ok()?;
        run_to_end(&mut command, VERSION_TIMEOUT, is_cancelled).ok()??;
        let text = self.output("stdout")?;
        let words = text.split_whitespace().map(|word| word.trim_start_matches('v'));
        let mut versions =
            words.filter(|word| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.'));
        versions.next().map(shorten)
    }

    /// The client with a clean environment, without keys or addresses of the user.
    fn command(&self, invocation: &ClientInvocation) -> Result<Command, Failure> {
        let mut command = Command::new(&self.program);
        command.args(&invocation.args).current_dir(&self.project).env_clear();
        command.env("HOME", &self.home).env("PATH", self.path).env("TMPDIR", &self.logs);
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"] {
            command.env(name, NO_PROXY_AT);
        }
        for name in ["NO_PROXY", "no_proxy"] {
            command.env(name, "127.0.0.1,localhost");
        }
        command.envs(invocation.env.iter().map(|(name, value)| (name, value)));
        let output = |name: &str| fs_err::File::create(self.logs.join(name)).map(fs_err::File::into_file);
        command.stdin(Stdio::null()).stdout(output("stdout")?).stderr(output("stderr")?);
        Ok(command)
    }

    /// Last line that the client wrote to standard error.
    fn last_error(&self) -> Option<String> {
        self.output("stderr")?.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(shorten)
    }

    /// Output of the client to a stream; `None` if it is too long.
    fn output(&self, stream: &str) -> Option<String> {
        let bytes = read_bytes(&self.logs.join(stream), FileClass::Untrusted, MAX_OUTPUT_BYTES).ok()??;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn install(&self) -> String {
        format!("`tenterhook install {}`", self.harness.id)
    }
}

fn shorten(text: &str) -> String {
    let end = (0..=text.len().min(MAX_ERROR_BYTES)).rev().find(|end| text.is_char_boundary(*end));
    strip_control_characters(text.get(..end.unwrap_or_default()).unwrap_or_default().trim())
}
