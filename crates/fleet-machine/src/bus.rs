// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The connection to the message bus.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Auth, AuthError, Client, ConnectOptions, HeaderMap, Message, Request, Subscriber};
use serde::Deserialize;
use tenterhook_fleet_protocol::{MachineId, MessageId, NkeyPair, StreamName, Subject};

use crate::upload::PublishOutcome;

/// Time limit for connecting, including TLS and authentication.
const BUS_CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Time limit for a request.
const BUS_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval of the pings that find a dead connection.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Number of messages that wait to be sent or handled. It limits memory, and nothing waits on a hook's behalf.
const MAX_WAITING_MESSAGES: usize = 64;
/// Error numbers of the message bus for a wrong last sequence.
const WRONG_LAST_SEQUENCE: [u64; 2] = [10_071, 10_164];
/// Error number of the message bus for a message that a stream cannot store, for example because it is full.
const STREAM_STORE_FAILED: u64 = 10_077;

/// A connection to the message bus with the credentials of a machine.
#[derive(Debug, Clone)]
pub struct Bus {
    client: Client,
    machine: MachineId,
}

/// The last message on a subject.
#[derive(Debug)]
pub struct LastMessage {
    /// Sequence number in the stream.
    pub sequence: u64,
    /// Id of the message, if it is a batch.
    pub id: Option<MessageId>,
    pub(crate) payload: Vec<u8>,
}

/// Error of the message bus.
#[derive(Debug, thiserror::Error)]
#[error("message bus: {why}")]
pub struct NatsError {
    why: String,
    /// Whether the message bus refused the credentials.
    pub(crate) is_authorization: bool,
}

/// The response of a stream to a message.
#[derive(Debug, Deserialize)]
struct StreamAnswer {
    #[serde(default)]
    seq: Option<u64>,
    #[serde(default)]
    error: Option<StreamRefusal>,
}

#[derive(Debug, Deserialize)]
struct StreamRefusal {
    #[serde(default)]
    code: u64,
    #[serde(default)]
    err_code: u64,
    #[serde(default)]
    description: String,
}

impl NatsError {
    pub(crate) fn new(error: impl std::fmt::Display) -> Self {
        Self { why: error.to_string(), is_authorization: false }
    }
}

impl From<async_nats::ConnectError> for NatsError {
    fn from(error: async_nats::ConnectError) -> Self {
        use async_nats::ConnectErrorKind::{Authentication, AuthorizationViolation};
        let is_authorization = matches!(error.kind(), Authentication | AuthorizationViolation);
        Self { is_authorization, ..Self::new(error) }
    }
}

impl Bus {
    /// Connects to one of these servers. Servers on other hosts must use TLS.
    pub async fn connect(
        urls: &[String],
        ca: Option<PathBuf>,
        machine: &MachineId,
        (jwt, key): (String, Arc<NkeyPair>),
    ) -> Result<Self, NatsError> {
        let options = ConnectOptions::with_auth_callback(move |nonce| {
            let (jwt, key) = (jwt.clone(), Arc::clone(&key));
            async move {
                let mut auth = Auth::new();
                auth.jwt = Some(jwt);
                auth.signature = Some(key.sign(&nonce).to_vec());
                Ok::<_, AuthError>(auth)
            }
        })
        .name(machine.as_str())
        .custom_inbox_prefix(Subject::inbox_prefix(machine))
        .connection_timeout(BUS_CONNECT_TIMEOUT)
        .request_timeout(Some(BUS_REQUEST_TIMEOUT))
        .ping_interval(PING_INTERVAL)
        .subscription_capacity(MAX_WAITING_MESSAGES)
        .client_capacity(MAX_WAITING_MESSAGES)
        .require_tls(!urls.iter().all(|url| is_local(url)));
        let options = match ca {
            Some(path) => options.add_root_certificates(path),
            None => options,
        };
        let connected = tokio::time::timeout(BUS_CONNECT_TIMEOUT, options.connect(urls)).await;
        let client = connected.map_err(|_| NatsError::new("no connection in time"))??;
        Ok(Self { client, machine: machine.clone() })
    }

    /// Whether the connection is open. The client reconnects by itself.
    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Receives the messages of a subject.
    pub async fn subscribe(&self, subject: Subject<'_>) -> Result<Subscriber, NatsError> {
        self.client.subscribe(subject.to_string()).await.map_err(NatsError::new)
    }

    /// Publishes a message without waiting for an answer.
    pub(crate) async fn publish(&self, subject: Subject<'_>, bytes: Vec<u8>) -> Result<(), NatsError> {
        self.client.publish(subject.to_string(), bytes.into()).await.map_err(NatsError::new)
    }

    /// Returns the last message on a subject; `None` if there is none.
    pub(crate) async fn last_message(
        &self,
        stream: StreamName,
        subject: Subject<'_>,
    ) -> Result<Option<LastMessage>, NatsError> {
        let request = stream.last_message_request(&subject);
        let message = self.client.request(request, "".into()).await.map_err(NatsError::new)?;
        match message.status.map(|status| status.as_u16()) {
            None => {}
            Some(404) => return Ok(None),
            Some(status) => {
                return Err(NatsError::new(format!("status {status} for the last message of `{subject}`")));
            }
        }
        let text = |name: &str| message.headers.as_ref()?.get(name).map(|value| value.as_str().to_owned());
        let sequence = text("Nats-Sequence").and_then(|sequence| sequence.parse().ok());
        let sequence = sequence.ok_or_else(|| NatsError::new("a message without its sequence number"))?;
        let id = text("Nats-Msg-Id").and_then(|id| id.parse().ok());
        Ok(Some(LastMessage { sequence, id, payload: message.payload.to_vec() }))
    }

    /// Returns the machine's last batch on the message bus.
    pub async fn last_batch(&self) -> Result<Option<LastMessage>, NatsError> {
        let stream = StreamName::Evidence(self.machine.partition());
        self.last_message(stream, Subject::Evidence(&self.machine)).await
    }

    /// Publishes a batch after the message with this sequence number.
    pub async fn publish_batch(&self, bytes: Vec<u8>, id: &MessageId, after: u64) -> PublishOutcome {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id.to_string());
        headers.insert("Nats-Expected-Last-Subject-Sequence", after.to_string());
        let request = Request::new().headers(headers).payload(bytes.into());
        let subject = Subject::Evidence(&self.machine).to_string();
        match self.client.send_request(subject, request).await {
            Ok(message) => read_answer(&message),
            Err(error) => PublishOutcome::Unavailable(error.to_string()),
        }
    }
}

/// Whether a URL names this host, or stays without a connection.
fn is_local(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    ["127.0.0.1", "localhost", "[::1]"]
        .iter()
        .filter_map(|local| host.strip_prefix(local))
        .any(|rest| rest.is_empty() || rest.starts_with(':'))
}

fn read_answer(message: &Message) -> PublishOutcome {
    if let Some(status) = message.status {
        return PublishOutcome::Unavailable(format!("status {status}"));
    }
    let Ok(answer) = serde_json::from_slice::<StreamAnswer>(&message.payload) else {
        return PublishOutcome::Unavailable("an answer that is not an acknowledgement".to_owned());
    };
    match (answer.error, answer.seq) {
        (None, Some(sequence)) => PublishOutcome::Stored { sequence },
        (Some(refusal), _) if WRONG_LAST_SEQUENCE.contains(&refusal.err_code) => {
            PublishOutcome::OtherLastMessage
        }
        (Some(refusal), _) if refusal.err_code == STREAM_STORE_FAILED => PublishOutcome::Full,
        (Some(refusal), _) => {
            let why = format!("{} ({})", refusal.description, refusal.err_code);
            // Status 503 is a server that is not ready, for example without a leader.
            if refusal.code == 503 { PublishOutcome::Unavailable(why) } else { PublishOutcome::Refused(why) }
        }
        (None, None) => {
            PublishOutcome::Unavailable("an acknowledgement without a sequence number".to_owned())
        }
    }
}

#[cfg(test)]
mod live_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(payload: &str) -> PublishOutcome {
        let (subject, payload) = ("s".into(), payload.to_owned().into());
        let message = Message {
            subject,
            reply: None,
            length: 0,
            payload,
            headers: None,
            status: None,
            description: None,
        };
        read_answer(&message)
    }

    #[test]
    fn answers_of_a_stream_are_understood() {
        let refused = |err_code: u64, code: u64| {
            answer(&format!(
                r#"{{"error":{{"code":{code},"err_code":{err_code},"description":"d"}},"stream":"EV_0","seq":0}}"#
            ))
        };
        assert_eq!(answer(r#"{"stream":"EV_0","seq":7}"#), PublishOutcome::Stored { sequence: 7 });
        assert_eq!(
            answer(r#"{"stream":"EV_0","seq":7,"duplicate":true}"#),
            PublishOutcome::Stored { sequence: 7 }
        );
        assert_eq!(refused(10_071, 400), PublishOutcome::OtherLastMessage);
        assert_eq!(refused(10_164, 400), PublishOutcome::OtherLastMessage);
        assert_eq!(refused(10_077, 503), PublishOutcome::Full);
        assert!(matches!(refused(10_008, 503), PublishOutcome::Unavailable(_)));
        assert!(matches!(refused(10_054, 400), PublishOutcome::Refused(_)));
        for text in ["", "{}", "[]", "null", r#"{"seq":-1}"#] {
            assert!(matches!(answer(text), PublishOutcome::Unavailable(_)), "{text}");
        }
    }

    #[test]
    fn only_this_host_may_be_reached_without_tls() {
        for url in ["nats://127.0.0.1:4222", "127.0.0.1", "tls://localhost:1", "nats://[::1]:1"] {
            assert!(is_local(url), "{url}");
        }
        for url in [
            "nats://10.0.0.1:4222",
            "nats://127.0.0.1.example.com",
            "nats://localhost.example",
            "nats://user@127.0.0.1",
        ] {
            assert!(!is_local(url), "{url}");
        }
    }
}
