// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What comes in, and what goes out.

use serde_json::{Value, json};

use crate::input::Key;

/// A request that was not carried out: one line for people, with what to do next.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RequestError(pub String);

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// A key was pressed.
    Key(Key),
    /// The screen has another size: columns, rows.
    Size(u16, u16),
    /// Time has passed.
    Now(Clock),
    /// The daemon is there and tells what happens.
    Up,
    /// It is not, or not any more.
    Down(String),
    /// The daemon told something: the name of the event, and what it says.
    Told(String, Value),
    /// What was fetched.
    Got(Subject, Result<Value, RequestError>),
    /// What a deed takes, and whether whoever sits here is a guarded agent.
    Needed(Deed, Result<(Needs, bool), RequestError>),
    /// What became of a deed.
    Done(Deed, Result<Value, RequestError>),
}

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Fetch something; the answer is [`Message::Got`].
    Get(Subject),
    /// Ask what a deed takes; the answer is [`Message::Needed`].
    Ask(Deed),
    /// Do it; the answer is [`Message::Done`].
    Do(Deed, Proof),
    /// End.
    Quit,
}

/// The time, as the person's clock shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clock {
    /// Milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// Seconds that the clock on the wall is ahead of UTC.
    pub ahead_s: i64,
}

/// What can be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The latest decisions, or those before a leaf.
    Decisions(Option<u64>),
    /// The decisions of one session.
    DecisionsOf(String),
    /// One decision.
    Decision(u64),
    /// Whether a decision is in the signed ledger.
    Proof(u64),
    /// All sessions.
    Sessions,
    /// One session, by `harness:id`.
    Session(String),
    /// What happened in it.
    Timeline(String),
    /// The calls that wait.
    Approvals,
    /// How the daemon is.
    Health,
    /// What the ledger holds.
    Ledger,
}

/// Something that a person does here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Let the call pass that was shown.
    Approve(ShownCall, Scope),
    /// Do not, and say why.
    Deny(String, String),
    /// Let rules only watch.
    Monitor,
    /// Let rules hold.
    Enforce,
}

/// The call that the screen showed. An approval is for it and no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownCall {
    /// Its full id.
    pub id: String,
    /// Digest of all that was shown.
    pub digest: String,
}

/// How far a yes goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This call.
    Once,
    /// Whatever the same rules ask about in the session.
    Session,
}

/// What somebody has to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// A code of an authenticator app.
    Code,
    /// The name of the action, typed.
    Word,
    /// Nothing.
    Nothing,
}

/// What they show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// Nothing.
    Nothing,
    /// They typed the name of the action.
    Word,
    /// A code.
    Code(String),
}

// === impl Subject ===

impl Subject {
    /// Where the daemon has it.
    pub fn path(&self) -> String {
        match self {
            Self::Decisions(None) => "/v1/ledger?kind=decision&limit=1000".to_owned(),
            Self::Decisions(Some(before)) => format!("/v1/ledger?kind=decision&limit=500&before={before}"),
            Self::DecisionsOf(session) => {
                let (harness, id) = session.split_once(':').unwrap_or(("", session));
                let (harness, id) = (quoted(harness), quoted(id));
                format!("/v1/ledger?kind=decision&limit=500&harness={harness}&session={id}")
            }
            Self::Decision(seq) => format!("/v1/ledger/{seq}"),
            Self::Proof(seq) => format!("/v1/ledger/{seq}/proof"),
            Self::Sessions => "/v1/sessions?limit=500".to_owned(),
            Self::Session(id) => format!("/v1/sessions/{}", quoted(id)),
            Self::Timeline(id) => format!("/v1/sessions/{}/timeline?limit=200", quoted(id)),
            Self::Approvals => "/v1/approvals".to_owned(),
            Self::Health => "/v1/health".to_owned(),
            Self::Ledger => "/v1/ledger/stats".to_owned(),
        }
    }
}

/// Text of an agent's as a part of an address.
fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let quote = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(quote).collect()
}

// === impl Deed ===

impl Deed {
    /// The name of what passes the gate: what a person types, and what the record calls it. `None`: it
    /// takes nobody's yes.
    pub fn action(&self) -> Option<&'static str> {
        match self {
            Self::Approve(..) => Some("approve"),
            Self::Monitor => Some("mode monitor"),
            Self::Deny(..) | Self::Enforce => None,
        }
    }

    /// The request that does it: method, path, body.
    pub fn request(&self, proof: &Proof) -> (&'static str, String, Value) {
        let proof = match proof {
            Proof::Nothing => json!({}),
            Proof::Word => json!({"tty": true}),
            Proof::Code(code) => json!({"code": code}),
        };
        match self {
            Self::Approve(ShownCall { id, digest }, scope) => {
                let scope = scope.word();
                (
                    "POST",
                    format!("/v1/approvals/{}", quoted(id)),
                    json!({"answer": "approve", "digest": digest, "for": scope, "proof": proof}),
                )
            }
            Self::Deny(id, note) => {
                let note = Some(note).filter(|note| !note.is_empty());
                ("POST", format!("/v1/approvals/{}", quoted(id)), json!({"answer": "deny", "note": note}))
            }
            Self::Monitor => ("PUT", "/v1/mode".to_owned(), json!({"mode": "monitor", "proof": proof})),
            Self::Enforce => ("PUT", "/v1/mode".to_owned(), json!({"mode": "enforce"})),
        }
    }
}

// === impl Scope ===

impl Scope {
    /// As the daemon calls it.
    pub fn word(self) -> &'static str {
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
    fn an_id_that_an_agent_chose_is_no_address_of_its_own() {
        let path = Subject::Session("codex:../../mode?x=#\r\nX: y".to_owned()).path();
        assert_eq!(path, "/v1/sessions/codex%3A..%2F..%2Fmode%3Fx%3D%23%0D%0AX%3A%20y");
        let path = Subject::DecisionsOf("codex:a&limit=9".to_owned()).path();
        assert!(path.ends_with("&harness=codex&session=a%26limit%3D9"), "{path}");
    }

    #[test]
    fn only_what_loosens_takes_a_proof() {
        let id = || "01M7".to_owned();
        let shown = ShownCall { id: id(), digest: "d1".to_owned() };
        let approve = Deed::Approve(shown, Scope::Session);
        let (method, path, body) = approve.request(&Proof::Code("123456".to_owned()));
        assert_eq!(
            (method, path.as_str(), approve.action()),
            ("POST", "/v1/approvals/01M7", Some("approve"))
        );
        let expected =
            json!({"answer": "approve", "digest": "d1", "for": "session", "proof": {"code": "123456"}});
        assert_eq!(body, expected);
        let (_, _, body) = Deed::Deny(id(), String::new()).request(&Proof::Word);
        assert_eq!(body, json!({"answer": "deny", "note": null}));
        assert_eq!(Deed::Monitor.request(&Proof::Word).2, json!({"mode": "monitor", "proof": {"tty": true}}));
        assert_eq!((Deed::Enforce.action(), Deed::Deny(id(), id()).action()), (None, None));
    }
}
