// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the answers of hooks that ran inside the calling program, such as the callbacks of an Agent SDK. The
//! harness's dialect parses them like hook program output. They are combined with the daemon's own hooks and rules.

use tenterhook_engine::FailMode;
use tenterhook_error::Failure;
use tenterhook_event::{Decision, Event, Finding, Origin, TraceEntry, TraceStatus};
use tenterhook_harness::dialect::{EngineControl, HookDialect, HookExit};

/// Maximum length of a recorded note about a failed callback.
const MAX_NOTE_CHARS: usize = 500;

/// The answer of one callback.
#[derive(Debug)]
pub(crate) struct Callback {
    /// Name of the callback; records show it after `callback:`.
    pub(crate) name: String,
    pub(crate) answer: Result<Vec<u8>, CallbackFailure>,
    pub(crate) fail: FailMode,
    pub(crate) took_us: u64,
}

/// Why a callback gave no answer.
#[derive(Debug)]
pub(crate) struct CallbackFailure {
    pub(crate) timed_out: bool,
    pub(crate) message: String,
}

/// The callbacks of one call, and the format of their answers.
#[derive(Debug, Default)]
pub(crate) struct Callbacks {
    dialect: Option<&'static HookDialect>,
    answers: Vec<Callback>,
}

impl Callbacks {
    /// Collects the answers. Fails if there are answers, but the format of this harness's hook answers is unknown.
    pub(crate) fn of(harness: &str, answers: Vec<Callback>) -> Result<Self, Failure> {
        let dialect = tenterhook_harness::dialect::for_harness(harness);
        if dialect.is_none() && !answers.is_empty() {
            return Err(Failure::user(format!("hooks of `{harness}` have no known output format")));
        }
        Ok(Self { dialect, answers })
    }

    /// Returns what each callback contributes to the outcome, in the order of the callbacks.
    pub(crate) fn read(self, event: &Event) -> Vec<(Finding, TraceEntry)> {
        let Some(dialect) = self.dialect else { return Vec::new() };
        self.answers.into_iter().map(|answer| answer.read(dialect, event)).collect()
    }
}

impl Callback {
    fn read(self, dialect: &HookDialect, event: &Event) -> (Finding, TraceEntry) {
        let by = Origin::hook(&format!("callback:{}", self.name));
        let read = match self.answer {
            Ok(stdout) => {
                let exited = HookExit { code: Some(0), stdout, stderr: Vec::new() };
                let output = dialect.interpret(event, by.clone(), &exited);
                output.map_err(|invalid| (TraceStatus::Failed, invalid.to_string()))
            }
            Err(CallbackFailure { timed_out: true, message }) => Err((TraceStatus::TimedOut, message)),
            Err(CallbackFailure { timed_out: false, message }) => Err((TraceStatus::Failed, message)),
        };
        let (finding, status, note) = match read {
            Ok(output) if matches!(output.control, EngineControl::Detach { .. }) => {
                (Finding::silent(by.clone()), TraceStatus::Detached, None)
            }
            Ok(output) => (output.finding, TraceStatus::Ran, None),
            Err((status, why)) => {
                let why = tenterhook_records::sanitize(&why, MAX_NOTE_CHARS);
                let finding = match self.fail {
                    FailMode::Open => Finding::silent(by.clone()),
                    FailMode::Closed => {
                        let reason = format!("the callback `{}` failed: {why}", self.name);
                        Finding::decided(by.clone(), Decision::Deny, reason)
                    }
                };
                (finding, status, Some(why))
            }
        };
        let step = TraceEntry { by, status, decision: finding.decision, took_us: self.took_us, note };
        (finding, step)
    }
}
