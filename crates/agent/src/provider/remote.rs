// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls a model over the network. Handles retries, pauses, timeouts and partial replies.
//!
//! A request is retried only while no part of the reply has been reported, so that no text is reported twice.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::{sleep, timeout};

use super::http::{HttpResponse, ResponsePiece};
use super::protocol::{DeltaSink, ProviderProtocol, ReplyReader, StreamError, StreamProgress};
use super::sse::SseParser;
use super::table::ProviderSpec;
use super::{ApiKey, ModelReply, ModelRequest, Provider, ProviderError, ProviderErrorKind, ReplyDelta};
use crate::CancelToken;

/// Timeouts and retry limits of a model request.
#[derive(Debug, Clone, Copy)]
pub struct ProviderLimits {
    /// Timeout for resolving the address and connecting.
    pub connect: Duration,
    /// Maximum time without data, before the first piece and between two pieces.
    pub idle: Duration,
    /// Maximum number of attempts.
    pub attempts: u32,
    /// Pause before the second attempt. It doubles with each further attempt.
    pub pause: Duration,
    /// Maximum pause. If the server asks for a longer pause, the request fails.
    pub max_pause: Duration,
}

/// A provider that is called over HTTP.
pub(super) struct RemoteProvider {
    pub(super) spec: &'static ProviderSpec,
    pub(super) protocol: Box<dyn ProviderProtocol>,
    pub(super) base_url: String,
    pub(super) key: Option<ApiKey>,
    pub(super) limits: ProviderLimits,
}

/// Error of one attempt, and when to try again.
struct AttemptError {
    error: ProviderError,
    retry: RetryDelay,
}

enum RetryDelay {
    /// Do not retry, because the request would fail in the same way or report text twice.
    Never,
    /// Retry after the configured pause.
    Later,
    /// Retry after the time that the server asks for.
    After(Duration),
}

impl Default for ProviderLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // Models with extended thinking may send nothing for minutes.
            idle: Duration::from_mins(5),
            attempts: 4,
            pause: Duration::from_millis(500),
            max_pause: Duration::from_mins(1),
        }
    }
}

impl Provider for RemoteProvider {
    fn name(&self) -> &'static str {
        self.spec.name
    }

    fn generate<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut (dyn FnMut(ReplyDelta) + Send),
        cancel: &'a CancelToken,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        async move {
            let mut pause = self.limits.pause;
            for attempt in 1.. {
                let AttemptError { error, retry } = match self.attempt_once(request, deltas, cancel).await {
                    Ok(reply) => return Ok(reply),
                    Err(failed) => failed,
                };
                let wait = match retry {
                    RetryDelay::Never => return Err(error),
                    RetryDelay::Later => pause,
                    RetryDelay::After(wait) => wait,
                };
                if attempt >= self.limits.attempts || wait > self.limits.max_pause {
                    return Err(with_attempt_count(error, attempt));
                }
                cancel.or(sleep(wait)).await.ok_or_else(ProviderError::cancelled)?;
                pause = (pause * 2).min(self.limits.max_pause);
            }
            Err(ProviderError::new(ProviderErrorKind::Unavailable, "no attempt was made"))
        }
        .boxed()
    }
}

impl RemoteProvider {
    async fn attempt_once(
        &self,
        request: &ModelRequest,
        deltas: &mut DeltaSink<'_>,
        cancel: &CancelToken,
    ) -> Result<ModelReply, AttemptError> {
        let mut reader = self.protocol.reader(request);
        let read = cancel.or(self.read_reply(request, reader.as_mut(), deltas)).await;
        let reported = reader.draft().has_content();
        let mut failed = match read {
            Some(Ok(())) => return Ok(reader.draft().take_reply(&request.model)),
            Some(Err(failed)) => failed,
            None => AttemptError { error: ProviderError::cancelled(), retry: RetryDelay::Never },
        };
        if reported {
            failed.retry = RetryDelay::Never;
            failed.error.partial = Some(Box::new(reader.draft().take_reply(&request.model)));
        }
        Err(failed)
    }

    /// Sends the request and reads the reply to its end. The connection is always closed afterwards.
    async fn read_reply(
        &self,
        request: &ModelRequest,
        reader: &mut dyn ReplyReader,
        deltas: &mut DeltaSink<'_>,
    ) -> Result<(), AttemptError> {
        let post = self.protocol.request(&self.base_url, self.key.as_ref(), request);
        let mut answer = post
            .send(self.limits.connect, self.limits.idle)
            .map_err(|error| self.connection_error(&error.to_string()))?;
        let mut events = SseParser::default();
        loop {
            match self.next_piece(&mut answer).await? {
                ResponsePiece::Begun | ResponsePiece::Silent => {}
                ResponsePiece::Refused { status, retry_after, body } => {
                    return Err(self.status_error(request, status, retry_after.as_deref(), &body));
                }
                ResponsePiece::Bytes(bytes) => {
                    let events = events.push_bytes(&bytes).map_err(|_| {
                        self.stream_error(StreamError::Malformed("stream event is too long".to_owned()))
                    })?;
                    for data in events {
                        let progress =
                            reader.read_event(&data, deltas).map_err(|error| self.stream_error(error))?;
                        if progress == StreamProgress::Over {
                            return Ok(());
                        }
                    }
                }
                ResponsePiece::End | ResponsePiece::Broke(_) if reader.is_complete() => return Ok(()),
                ResponsePiece::End => {
                    return Err(self.connection_error("the stream ended before the reply was complete"));
                }
                ResponsePiece::Broke(why) => return Err(self.connection_error(&why)),
            }
        }
    }

    async fn next_piece(&self, answer: &mut HttpResponse) -> Result<ResponsePiece, AttemptError> {
        // Connecting has its own timeout, which is added to the idle timeout here.
        match timeout(self.limits.connect + self.limits.idle, answer.next_piece()).await {
            Ok(Some(ResponsePiece::Silent)) | Err(_) => Err(self.idle_timeout_error()),
            Ok(piece) => Ok(piece.unwrap_or(ResponsePiece::End)),
        }
    }

    // === errors ===

    /// Creates the error for an idle timeout. The request is not retried: the server may still be generating the
    /// reply, and a second request would be charged again.
    fn idle_timeout_error(&self) -> AttemptError {
        let ProviderLimits { idle, .. } = self.limits;
        let message = format!("{} sent nothing for {idle:?}", self.endpoint());
        self.attempt_error(ProviderErrorKind::Unavailable, &message, RetryDelay::Never)
    }

    fn connection_error(&self, why: &str) -> AttemptError {
        let mut failed = self.attempt_error(
            ProviderErrorKind::Unavailable,
            &format!("incomplete reply from {}: {why}", self.endpoint()),
            RetryDelay::Later,
        );
        failed.error.hint = Some(format!("check the network and {}", self.spec.base_url_variable));
        failed
    }

    fn stream_error(&self, error: StreamError) -> AttemptError {
        let place = self.endpoint();
        match error {
            StreamError::Malformed(what) => self.attempt_error(
                ProviderErrorKind::Unreadable,
                &format!("{place}: {what}"),
                RetryDelay::Never,
            ),
            StreamError::Failed(what) => self.attempt_error(
                ProviderErrorKind::Unavailable,
                &format!("{place}: {what}"),
                RetryDelay::Later,
            ),
            StreamError::Refused(what) => self.attempt_error(
                ProviderErrorKind::Refused,
                &format!("{place} refused the request: {what}"),
                RetryDelay::Never,
            ),
        }
    }

    fn status_error(
        &self,
        request: &ModelRequest,
        status: u16,
        retry_after: Option<&str>,
        body: &str,
    ) -> AttemptError {
        let said = error_message_from_body(body);
        let place = self.endpoint();
        let ProviderSpec { key_variable, base_url_variable, .. } = self.spec;
        let (kind, what, hint, again) = match status {
            400 | 401 | 403 if status != 400 || body.contains("API_KEY_INVALID") => {
                let what = format!("{place} rejected the API key (HTTP {status})");
                (ProviderErrorKind::InvalidSettings, what, format!("check {key_variable}"), RetryDelay::Never)
            }
            404 => {
                let what = format!("{place} has no model `{}` (HTTP 404)", request.model);
                let hint = format!("choose another with --model, or check {base_url_variable}");
                (ProviderErrorKind::InvalidSettings, what, hint, RetryDelay::Never)
            }
            408 | 429 | 500.. => {
                let wait = retry_after.and_then(|value| value.trim().parse().ok());
                let wait = wait.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let what = if status == 429 { "is rate limited" } else { "is unavailable" };
                let asked = wait.map(|wait| format!("; retry after {wait:?}")).unwrap_or_default();
                let asked = if status == 429 { asked } else { String::new() };
                let retry = wait.map_or(RetryDelay::Later, RetryDelay::After);
                let hint = "try again later".to_owned();
                (
                    ProviderErrorKind::Unavailable,
                    format!("{place} {what}{asked} (HTTP {status})"),
                    hint,
                    retry,
                )
            }
            _ => {
                let what = format!("{place} refused the request (HTTP {status})");
                (ProviderErrorKind::Refused, what, String::new(), RetryDelay::Never)
            }
        };
        let message = if said.is_empty() { what } else { format!("{what}: {said}") };
        let mut failed = self.attempt_error(kind, &message, again);
        failed.error.hint = (!hint.is_empty()).then_some(hint);
        failed
    }

    fn endpoint(&self) -> String {
        format!("{} at `{}`", self.spec.name, self.base_url)
    }

    /// Creates an error and redacts the API key, which a server's message may contain.
    fn attempt_error(&self, kind: ProviderErrorKind, message: &str, retry: RetryDelay) -> AttemptError {
        let message = self.key.as_ref().map_or_else(|| message.to_owned(), |key| key.redact(message));
        AttemptError { error: ProviderError::new(kind, message), retry }
    }
}

fn with_attempt_count(mut error: ProviderError, attempts: u32) -> ProviderError {
    if attempts > 1 {
        error.message = format!("{} (after {attempts} attempts)", error.message);
    }
    error
}

/// Extracts the message from an error response body of any protocol, as one line.
fn error_message_from_body(body: &str) -> String {
    const MAX_ERROR_CHARS: usize = 500;
    let json = serde_json::from_str::<serde_json::Value>(body).ok();
    let pointers = ["/error/message", "/0/error/message", "/error", "/message", "/detail"];
    let message = json.as_ref().and_then(|json| pointers.iter().find_map(|at| json.pointer(at)?.as_str()));
    let parts: Vec<_> = message.unwrap_or(body).split_whitespace().collect();
    let line = parts.join(" ");
    if line.chars().count() > MAX_ERROR_CHARS {
        return line.chars().take(MAX_ERROR_CHARS).chain(['…']).collect();
    }
    line
}
