// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines messages to the view, and commands to its caller.

use serde_json::{Value, json};

use crate::key_press::KeyPress;

/// A failed request, as one line for the user that includes what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequestError(pub String);

/// Input to [`update`](crate::update).
#[derive(Debug, Clone, PartialEq)]
pub enum TuiMessage {
    /// A key was pressed.
    Key(KeyPress),
    /// The mouse was clicked, or its wheel was turned.
    Mouse(MouseInput),
    /// The screen was resized to this many columns and rows.
    Resized(u16, u16),
    /// The current time.
    Tick(WallClock),
    /// The daemon is connected and sends events.
    Connected,
    /// The daemon is not connected, for this reason.
    Disconnected(String),
    /// An event from the daemon: its name and data.
    Event(String, Value),
    /// The answer to [`TuiCommand::Fetch`].
    Fetched(FetchTarget, Result<Value, RequestError>),
    /// The proof that an action needs, and whether the caller is a guarded agent.
    ProofNeeded(UserAction, Result<(ProofNeeded, bool), RequestError>),
    /// The result of an action.
    ActionDone(UserAction, Result<Value, RequestError>),
}

/// What the caller of [`update`](crate::update) must do next.
#[derive(Debug, Clone, PartialEq)]
pub enum TuiCommand {
    /// Fetch data; the answer is [`TuiMessage::Fetched`].
    Fetch(FetchTarget),
    /// Ask which proof an action needs; the answer is [`TuiMessage::ProofNeeded`].
    AskProofNeeded(UserAction),
    /// Perform an action; the answer is [`TuiMessage::ActionDone`].
    Perform(UserAction, GivenProof),
    /// Ring the terminal's bell.
    RingBell,
    /// Copy this text to the clipboard. It contains no control characters except line breaks.
    Copy(String),
    /// Leave the program.
    Quit,
}

/// The local time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WallClock {
    /// Milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// Offset of local time from UTC, in seconds.
    pub ahead_s: i64,
}

/// A mouse event at a cell of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MouseInput {
    /// Column, counted from 0.
    pub column: u16,
    /// Row, counted from 0.
    pub row: u16,
    /// What the user did at this cell.
    pub action: MouseAction,
}

/// What a user did with the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseAction {
    /// The first button was pressed.
    Click,
    /// The wheel was turned up by one step.
    WheelUp,
    /// The wheel was turned down by one step.
    WheelDown,
}

/// Which calls a list contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListedCalls {
    /// Calls that were asked about, denied, rewritten, or failed.
    #[default]
    Notable,
    /// All calls; other events between them are folded.
    All,
}

/// Call whose decision by the current rules is explained.
#[derive(Debug, Clone, PartialEq)]
pub enum ExplainSubject {
    /// The recorded event of this record.
    Record(u64, Value),
    /// A shell command.
    Command(String),
}

/// Data that can be fetched from the daemon.
#[derive(Debug, Clone, PartialEq)]
pub enum FetchTarget {
    /// The latest decisions, for the statistics.
    Decisions,
    /// The latest calls, or the calls before a given record.
    Calls(ListedCalls, Option<u64>),
    /// Calls of one session.
    CallsOf(String),
    /// One decision, by sequence number.
    Decision(u64),
    /// Proof that a decision is in the signed ledger.
    Proof(u64),
    /// The list of sessions.
    Sessions,
    /// One session, by `harness:id`.
    Session(String),
    /// Timeline of a session.
    Timeline(String),
    /// What the current rules decide about a call, and which rules match.
    Explain(ExplainSubject),
    /// A rule that denies calls like the one in this record.
    DenyRuleDraft(u64),
    /// What a restore of a snapshot would do, by the id of the snapshot or of the call's event.
    RestorePreview(String),
    /// Approvals that wait for an answer.
    Approvals,
    /// The daemon's health.
    Health,
    /// Statistics of the ledger.
    Ledger,
}

/// An action that the user requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserAction {
    /// Approve the shown call.
    Approve(ShownCall, ApproveFor),
    /// Deny a call, with a message for the agent.
    Deny(String, String),
    /// Restore a snapshot. What was changed after the call stays as it is.
    Restore(ShownSnapshot),
    /// Allow a recorded call, which rules stopped, to run once.
    AllowOnce(u64),
    /// Add a drafted rule, which denies calls, to the user's policy.
    AddRule(ShownRule),
    /// Switch to monitor mode.
    Monitor,
    /// Switch to enforce mode.
    Enforce,
}

/// The call that the screen showed. An approval is valid only for this call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownCall {
    /// Full id of the approval.
    pub id: String,
    /// Digest of everything that was shown.
    pub digest: String,
}

/// A snapshot that the screen offers to restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownSnapshot {
    /// Id of the snapshot.
    pub id: String,
    /// Ids of the rules that matched the call.
    pub reason: String,
    /// Number of items that a restore creates or replaces.
    pub restorable: u64,
    /// Number of items that were changed after the call.
    pub conflicts: u64,
}

/// A drafted rule that the screen shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownRule {
    /// Id of the rule.
    pub id: String,
    /// The user's policy from which the rule was drafted.
    pub before: String,
    /// The user's policy with the rule.
    pub after: String,
}

/// Scope of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApproveFor {
    /// This call only.
    Once,
    /// All calls that the same rules ask about in this session.
    Session,
}

/// Proof that an action needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofNeeded {
    /// A code from an authenticator app.
    Code,
    /// The name of the action, typed by the user.
    Word,
    /// The action needs no proof.
    Nothing,
}

/// Proof that the user gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenProof {
    /// The user gave no proof.
    Nothing,
    /// The user typed the name of the action.
    Word,
    /// A code from an authenticator app.
    Code(String),
}

// === impl FetchTarget ===

impl FetchTarget {
    /// Returns the API request: path, and body of a POST request.
    pub fn api_request(&self) -> (String, Option<Value>) {
        match self {
            Self::Explain(ExplainSubject::Record(_, event)) => {
                ("/v1/policy/explain".to_owned(), Some(json!({"event": event})))
            }
            Self::Explain(ExplainSubject::Command(command)) => {
                ("/v1/policy/explain".to_owned(), Some(json!({"command": command})))
            }
            Self::DenyRuleDraft(seq) => {
                ("/v1/policy/draft".to_owned(), Some(json!({"seq": seq, "want": "block"})))
            }
            other => (other.api_path(), None),
        }
    }

    fn api_path(&self) -> String {
        match self {
            Self::Decisions => "/v1/ledger/lines?kind=decision&limit=1000".to_owned(),
            Self::Calls(show, None) => format!("/v1/ledger/calls?show={}&limit=200", show.api_name()),
            Self::Calls(show, Some(before)) => {
                format!("/v1/ledger/calls?show={}&limit=200&before={before}", show.api_name())
            }
            Self::CallsOf(session) => {
                let (harness, id) = session.split_once(':').unwrap_or(("", session));
                let (harness, id) = (percent_encode(harness), percent_encode(id));
                format!("/v1/ledger/calls?show=all&limit=500&harness={harness}&session={id}")
            }
            Self::Decision(seq) => format!("/v1/ledger/{seq}"),
            Self::Proof(seq) => format!("/v1/ledger/{seq}/proof"),
            Self::Sessions => "/v1/sessions?limit=500".to_owned(),
            Self::Session(id) => format!("/v1/sessions/{}", percent_encode(id)),
            Self::Timeline(id) => format!("/v1/sessions/{}/timeline?limit=200", percent_encode(id)),
            Self::Explain(_) => "/v1/policy/explain".to_owned(),
            Self::DenyRuleDraft(_) => "/v1/policy/draft".to_owned(),
            Self::RestorePreview(id) => format!("/v1/snapshots/{}", percent_encode(id)),
            Self::Approvals => "/v1/approvals".to_owned(),
            Self::Health => "/v1/health".to_owned(),
            Self::Ledger => "/v1/ledger/stats".to_owned(),
        }
    }
}

impl ListedCalls {
    /// Returns the name of the selection in the API.
    pub fn api_name(self) -> &'static str {
        match self {
            Self::Notable => "notable",
            Self::All => "all",
        }
    }
}

/// Percent-encodes a string from an agent for use in a path.
fn percent_encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let quote = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(quote).collect()
}

// === impl UserAction ===

impl UserAction {
    /// Returns the name of the privileged action, which the user types and the ledger records. `None` if the action
    /// is not privileged.
    pub fn privileged_action(&self) -> Option<&'static str> {
        match self {
            Self::Approve(..) => Some("approve"),
            Self::AllowOnce(_) => Some("allow"),
            Self::Monitor => Some("mode monitor"),
            Self::Deny(..) | Self::Enforce | Self::Restore(_) | Self::AddRule(_) => None,
        }
    }

    /// Returns the API request: method, path and body. `None` if the caller performs the action itself.
    pub fn api_request(&self, proof: &GivenProof) -> Option<(&'static str, String, Value)> {
        let proof = proof.to_json();
        Some(match self {
            Self::AllowOnce(_) | Self::AddRule(_) => return None,
            Self::Approve(ShownCall { id, digest }, scope) => {
                let scope = scope.api_name();
                (
                    "POST",
                    format!("/v1/approvals/{}", percent_encode(id)),
                    json!({"answer": "approve", "digest": digest, "for": scope, "proof": proof}),
                )
            }
            Self::Deny(id, note) => {
                let note = Some(note).filter(|note| !note.is_empty());
                (
                    "POST",
                    format!("/v1/approvals/{}", percent_encode(id)),
                    json!({"answer": "deny", "note": note}),
                )
            }
            Self::Restore(shown) => {
                ("POST", format!("/v1/snapshots/{}/restore", percent_encode(&shown.id)), json!({}))
            }
            Self::Monitor => ("PUT", "/v1/mode".to_owned(), json!({"mode": "monitor", "proof": proof})),
            Self::Enforce => ("PUT", "/v1/mode".to_owned(), json!({"mode": "enforce"})),
        })
    }
}

// === impl GivenProof ===

impl GivenProof {
    /// Returns the proof as the API reads it.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Nothing => json!({}),
            Self::Word => json!({"tty": true}),
            Self::Code(code) => json!({"code": code}),
        }
    }
}

// === impl ApproveFor ===

impl ApproveFor {
    /// Returns the name of the scope in the API.
    pub fn api_name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_chosen_by_an_agent_cannot_change_the_path() {
        let path = FetchTarget::Session("codex:../../mode?x=#\r\nX: y".to_owned()).api_path();
        assert_eq!(path, "/v1/sessions/codex%3A..%2F..%2Fmode%3Fx%3D%23%0D%0AX%3A%20y");
        let path = FetchTarget::CallsOf("codex:a&limit=9".to_owned()).api_path();
        assert!(path.ends_with("&harness=codex&session=a%26limit%3D9"), "{path}");
    }

    #[test]
    fn only_privileged_actions_need_a_proof() {
        let id = || "01M7".to_owned();
        let shown = ShownCall { id: id(), digest: "d1".to_owned() };
        let approve = UserAction::Approve(shown, ApproveFor::Session);
        let (method, path, body) = approve.api_request(&GivenProof::Code("123456".to_owned())).unwrap();
        assert_eq!(
            (method, path.as_str(), approve.privileged_action()),
            ("POST", "/v1/approvals/01M7", Some("approve"))
        );
        let expected =
            json!({"answer": "approve", "digest": "d1", "for": "session", "proof": {"code": "123456"}});
        assert_eq!(body, expected);
        let (_, _, body) = UserAction::Deny(id(), String::new()).api_request(&GivenProof::Word).unwrap();
        assert_eq!(body, json!({"answer": "deny", "note": null}));
        let restore =
            UserAction::Restore(ShownSnapshot { id: id(), reason: id(), restorable: 1, conflicts: 0 });
        let (method, path, body) = restore.api_request(&GivenProof::Nothing).unwrap();
        assert_eq!((method, path.as_str(), body), ("POST", "/v1/snapshots/01M7/restore", json!({})));
        assert_eq!(restore.privileged_action(), None);
        assert_eq!(
            UserAction::Monitor.api_request(&GivenProof::Word).unwrap().2,
            json!({"mode": "monitor", "proof": {"tty": true}})
        );
        assert_eq!(UserAction::AllowOnce(7).privileged_action(), Some("allow"));
        assert_eq!(UserAction::AllowOnce(7).api_request(&GivenProof::Word), None, "the caller performs it");
        assert_eq!(
            (UserAction::Enforce.privileged_action(), UserAction::Deny(id(), id()).privileged_action()),
            (None, None)
        );
    }
}
