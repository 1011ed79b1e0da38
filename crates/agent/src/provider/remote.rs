// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Asking a model over the network: attempts, pauses, time-outs, and what is kept when it fails.
//!
//! An attempt is made again only while nothing of an answer was told: words that were told once are
//! never told twice.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::{sleep, timeout};

use super::http::{Answer, Piece};
use super::makers::Maker;
use super::sse::Events;
use super::wire::{Deltas, Progress, Reader, Trouble, Wire};
use super::{Delta, Failing, Key, ModelReply, ModelRequest, Provider, ProviderError};
use crate::Cancel;

/// How long a model is waited for, and how often it is asked.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// To find the server and reach it.
    pub connect: Duration,
    /// The longest silence: before the first word, and between two.
    pub idle: Duration,
    /// How often it is asked in all.
    pub attempts: u32,
    /// The first pause between two attempts; each further one is twice as long.
    pub pause: Duration,
    /// The longest pause, also if the server asks for a longer one.
    pub longest_pause: Duration,
}

/// A model behind a protocol and an address.
pub(super) struct Remote {
    pub(super) maker: &'static Maker,
    pub(super) wire: Box<dyn Wire>,
    pub(super) base_url: String,
    pub(super) key: Option<Key>,
    pub(super) limits: Limits,
}

/// How one attempt failed, and when another might succeed.
struct Failed {
    error: ProviderError,
    again: Again,
}

enum Again {
    /// It would fail the same way, or tell the same words twice.
    Never,
    /// After our own pause.
    Later,
    /// When the server says.
    After(Duration),
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            // Models that think may be silent for minutes.
            idle: Duration::from_mins(5),
            attempts: 4,
            pause: Duration::from_millis(500),
            longest_pause: Duration::from_mins(1),
        }
    }
}

impl Provider for Remote {
    fn name(&self) -> &'static str {
        self.maker.name
    }

    fn generate<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: &'a mut (dyn FnMut(Delta) + Send),
        cancel: &'a Cancel,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        async move {
            let mut pause = self.limits.pause;
            for attempt in 1.. {
                let Failed { error, again } = match self.attempt(request, deltas, cancel).await {
                    Ok(reply) => return Ok(reply),
                    Err(failed) => failed,
                };
                let wait = match again {
                    Again::Never => return Err(error),
                    Again::Later => pause,
                    Again::After(wait) => wait,
                };
                if attempt >= self.limits.attempts || wait > self.limits.longest_pause {
                    return Err(tried(error, attempt));
                }
                cancel.or(sleep(wait)).await.ok_or_else(ProviderError::cancelled)?;
                pause = (pause * 2).min(self.limits.longest_pause);
            }
            Err(ProviderError::new(Failing::Unavailable, "it was never asked"))
        }
        .boxed()
    }
}

impl Remote {
    async fn attempt(
        &self,
        request: &ModelRequest,
        deltas: &mut Deltas<'_>,
        cancel: &Cancel,
    ) -> Result<ModelReply, Failed> {
        let mut reader = self.wire.reader(request);
        let read = cancel.or(self.read(request, reader.as_mut(), deltas)).await;
        let told = reader.draft().is_told();
        let mut failed = match read {
            Some(Ok(())) => return Ok(reader.draft().reply(&request.model)),
            Some(Err(failed)) => failed,
            None => Failed { error: ProviderError::cancelled(), again: Again::Never },
        };
        if told {
            failed.again = Again::Never;
            failed.error.partial = Some(Box::new(reader.draft().reply(&request.model)));
        }
        Err(failed)
    }

    /// Reads one answer to its end. The connection ends with this call, however it ends.
    async fn read(
        &self,
        request: &ModelRequest,
        reader: &mut dyn Reader,
        deltas: &mut Deltas<'_>,
    ) -> Result<(), Failed> {
        let post = self.wire.request(&self.base_url, self.key.as_ref(), request);
        let mut answer = post
            .send(self.limits.connect, self.limits.idle)
            .map_err(|error| self.broke(&error.to_string()))?;
        let mut events = Events::default();
        loop {
            match self.next(&mut answer).await? {
                Piece::Begun | Piece::Silent => {}
                Piece::Refused { status, retry_after, body } => {
                    return Err(self.refused(request, status, retry_after.as_deref(), &body));
                }
                Piece::Bytes(bytes) => {
                    let events = events.take(&bytes).map_err(|_| {
                        self.trouble(Trouble::Malformed("an event of the stream is too long".to_owned()))
                    })?;
                    for data in events {
                        let progress = reader.take(&data, deltas).map_err(|trouble| self.trouble(trouble))?;
                        if progress == Progress::Over {
                            return Ok(());
                        }
                    }
                }
                Piece::End | Piece::Broke(_) if reader.is_whole() => return Ok(()),
                Piece::End => return Err(self.broke("the stream ended before the answer did")),
                Piece::Broke(why) => return Err(self.broke(&why)),
            }
        }
    }

    async fn next(&self, answer: &mut Answer) -> Result<Piece, Failed> {
        // The way there is bounded by itself; silence begins when it may be over.
        match timeout(self.limits.connect + self.limits.idle, answer.next()).await {
            Ok(Some(Piece::Silent)) | Err(_) => Err(self.silent()),
            Ok(piece) => Ok(piece.unwrap_or(Piece::End)),
        }
    }

    // === what went wrong, in words ===

    /// Asking again could mean to pay twice for an answer that is still being made.
    fn silent(&self) -> Failed {
        let Limits { idle, .. } = self.limits;
        let message = format!("{} was silent for {idle:?}", self.place());
        self.fail(Failing::Unavailable, &message, Again::Never)
    }

    fn broke(&self, why: &str) -> Failed {
        let mut failed = self.fail(
            Failing::Unavailable,
            &format!("no whole answer from {}: {why}", self.place()),
            Again::Later,
        );
        failed.error.hint = Some(format!("check the network and {}", self.maker.base_url_variable));
        failed
    }

    fn trouble(&self, trouble: Trouble) -> Failed {
        let place = self.place();
        match trouble {
            Trouble::Malformed(what) => {
                self.fail(Failing::Unreadable, &format!("{place}: {what}"), Again::Never)
            }
            Trouble::Failed(what) => {
                self.fail(Failing::Unavailable, &format!("{place}: {what}"), Again::Later)
            }
            Trouble::Refused(what) => {
                self.fail(Failing::Refused, &format!("{place} refused the request: {what}"), Again::Never)
            }
        }
    }

    fn refused(&self, request: &ModelRequest, status: u16, retry_after: Option<&str>, body: &str) -> Failed {
        let said = said(body);
        let place = self.place();
        let Maker { key_variable, base_url_variable, .. } = self.maker;
        let (kind, what, hint, again) = match status {
            400 | 401 | 403 if status != 400 || body.contains("API_KEY_INVALID") => {
                let what = format!("{place} does not accept the key (HTTP {status})");
                (Failing::Settings, what, format!("check {key_variable}"), Again::Never)
            }
            404 => {
                let what = format!("{place} knows no model `{}` (HTTP 404)", request.model);
                let hint = format!("name another with --model, or check {base_url_variable}");
                (Failing::Settings, what, hint, Again::Never)
            }
            408 | 429 | 500.. => {
                let wait = retry_after.and_then(|value| value.trim().parse().ok());
                let wait = wait.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let what = if status == 429 { "asks to wait" } else { "is in trouble" };
                let asked = wait.map(|wait| format!(" for {wait:?}")).unwrap_or_default();
                let asked = if status == 429 { asked } else { String::new() };
                let again = wait.map_or(Again::Later, Again::After);
                let hint = "try again later".to_owned();
                (Failing::Unavailable, format!("{place} {what}{asked} (HTTP {status})"), hint, again)
            }
            _ => {
                let what = format!("{place} refused the request (HTTP {status})");
                (Failing::Refused, what, String::new(), Again::Never)
            }
        };
        let message = if said.is_empty() { what } else { format!("{what}: {said}") };
        let mut failed = self.fail(kind, &message, again);
        failed.error.hint = (!hint.is_empty()).then_some(hint);
        failed
    }

    fn place(&self) -> String {
        format!("{} at `{}`", self.maker.name, self.base_url)
    }

    /// Whatever somebody else said may repeat the key.
    fn fail(&self, kind: Failing, message: &str, again: Again) -> Failed {
        let message = self.key.as_ref().map_or_else(|| message.to_owned(), |key| key.hide(message));
        Failed { error: ProviderError::new(kind, message), again }
    }
}

fn tried(mut error: ProviderError, attempts: u32) -> ProviderError {
    if attempts > 1 {
        error.message = format!("{} (asked {attempts} times)", error.message);
    }
    error
}

/// What the body of an error says, on one line, in whichever of the protocols.
fn said(body: &str) -> String {
    const MOST: usize = 500;
    let json = serde_json::from_str::<serde_json::Value>(body).ok();
    let pointers = ["/error/message", "/0/error/message", "/error", "/message", "/detail"];
    let message = json.as_ref().and_then(|json| pointers.iter().find_map(|at| json.pointer(at)?.as_str()));
    let words: Vec<_> = message.unwrap_or(body).split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() > MOST {
        return line.chars().take(MOST).chain(['…']).collect();
    }
    line
}
