// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenTelemetry, for whoever has a collector: one span for each hook call, and the counters.
//!
//! OTLP over HTTP, as JSON. A thread of its own sends batches; a collector that is slow or gone costs
//! spans, which are counted, and never a decision.

mod otlp;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tenterhook_engine::http_post::HttpPost;
use tenterhook_event::{DecidedCall, Timestamp};

use crate::metrics::Metrics;
use otlp::DecisionSpan;

/// How many spans may wait; more are dropped and counted.
const WAITING: usize = 2048;
/// How many spans go together.
const BATCH: usize = 512;
/// How long the collector may take.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// Where telemetry goes, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Otlp {
    /// The collector, such as `http://127.0.0.1:4318`.
    pub url: String,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// How long a span waits for others.
    pub spans_every: Duration,
    /// How often the counters are sent.
    pub metrics_every: Duration,
}

/// Sends telemetry.
pub struct Exporter {
    sender: SyncSender<ExporterMessage>,
    dropped: Arc<AtomicU64>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

enum ExporterMessage {
    Span(Box<DecisionSpan>),
    End,
}

/// The thread's own.
struct Sending {
    otlp: Otlp,
    metrics: Arc<Metrics>,
    started: Timestamp,
    now: fn() -> Timestamp,
    dropped: Arc<AtomicU64>,
    /// Whether the last batch arrived: a change is said once.
    arrives: bool,
}

impl Otlp {
    /// A collector at an address, with the usual pace.
    pub fn at(url: &str) -> Self {
        Self {
            url: url.trim_end_matches('/').to_owned(),
            headers: BTreeMap::new(),
            spans_every: Duration::from_secs(5),
            metrics_every: Duration::from_mins(1),
        }
    }
}

// === impl Exporter ===

impl Exporter {
    /// Starts the thread that sends. `now` is the clock.
    pub fn start(otlp: Otlp, metrics: Arc<Metrics>, now: fn() -> Timestamp) -> std::io::Result<Self> {
        let (sender, words) = sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let sending =
            Sending { otlp, metrics, started: now(), now, dropped: Arc::clone(&dropped), arrives: true };
        let thread =
            std::thread::Builder::new().name("telemetry".into()).spawn(move || sending.run(&words))?;
        Ok(Self { sender, dropped, thread: Mutex::new(Some(thread)) })
    }

    /// One call was decided.
    pub fn decided(&self, decided: &DecidedCall<'_>) {
        if self.sender.try_send(ExporterMessage::Span(Box::new(DecisionSpan::of(decided)))).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many spans had no room.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Sends what is left. Waits for one last batch at most.
    pub fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && self.sender.send(ExporterMessage::End).is_ok()
        {
            // A thread that panicked has nothing left to send.
            drop(thread.join());
        }
    }
}

// === impl Sending ===

impl Sending {
    fn run(mut self, words: &Receiver<ExporterMessage>) {
        let (mut batch, mut since) = (Vec::new(), Instant::now());
        let mut counted = Instant::now();
        loop {
            let due = (self.otlp.spans_every.saturating_sub(since.elapsed()))
                .min(self.otlp.metrics_every.saturating_sub(counted.elapsed()));
            let word = words.recv_timeout(due.max(Duration::from_millis(1)));
            let ended = matches!(word, Ok(ExporterMessage::End) | Err(RecvTimeoutError::Disconnected));
            if let Ok(ExporterMessage::Span(span)) = word {
                if batch.is_empty() {
                    since = Instant::now();
                }
                batch.push(*span);
            }
            let waited = since.elapsed() >= self.otlp.spans_every;
            if !batch.is_empty() && (ended || waited || batch.len() >= BATCH) {
                let body = otlp::spans(&std::mem::take(&mut batch));
                self.send("traces", &body);
            }
            if batch.is_empty() {
                since = Instant::now();
            }
            if ended || counted.elapsed() >= self.otlp.metrics_every {
                counted = Instant::now();
                let body = otlp::metrics(&self.metrics, self.started, (self.now)());
                self.send("metrics", &body);
            }
            if ended {
                return;
            }
        }
    }

    fn send(&mut self, what: &str, body: &serde_json::Value) {
        let post = HttpPost {
            url: format!("{}/v1/{what}", self.otlp.url),
            headers: self.otlp.headers.clone().into_iter().collect(),
            body: body.to_string().into_bytes(),
            timeout: EXPORT_TIMEOUT,
            max_response_bytes: 64 * 1024,
        };
        let why = match post.send() {
            Ok((200..300, _)) => None,
            Ok((status, _)) => Some(format!("it answered with status {status}")),
            Err(error) => Some(error.to_string()),
        };
        match &why {
            Some(why) if self.arrives => {
                tracing::warn!(collector = self.otlp.url, why, "telemetry does not arrive");
            }
            None if !self.arrives => {
                let dropped = self.dropped.load(Ordering::Relaxed);
                tracing::info!(collector = self.otlp.url, dropped, "telemetry arrives again");
            }
            _ => {}
        }
        self.arrives = why.is_none();
    }
}

#[cfg(test)]
mod tests;
