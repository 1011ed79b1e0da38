// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenTelemetry export: one span for each hook call, and the counters.
//!
//! A separate thread sends batches as OTLP over HTTP, in JSON. If the collector is slow or not reachable, spans are
//! dropped and the number of dropped spans is counted. Decisions never wait for the exporter.

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

/// Maximum number of waiting spans. Further spans are dropped and counted.
const MAX_WAITING_SPANS: usize = 2048;
/// Maximum number of spans in a request.
const MAX_BATCH_SPANS: usize = 512;
/// Maximum duration of a request.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// Destination of telemetry, and how often it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtlpCollector {
    /// URL of the collector, such as `http://127.0.0.1:4318`.
    pub url: String,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// Maximum time that a span waits for others before its batch is sent.
    pub spans_every: Duration,
    /// Interval at which counters are sent.
    pub metrics_every: Duration,
}

/// Sends telemetry to a collector.
pub struct Exporter {
    sender: SyncSender<ExporterMessage>,
    dropped: Arc<AtomicU64>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

enum ExporterMessage {
    Span(Box<DecisionSpan>),
    End,
}

/// State of the exporter's thread.
struct ExportWorker {
    otlp: OtlpCollector,
    metrics: Arc<Metrics>,
    started: Timestamp,
    now: fn() -> Timestamp,
    dropped: Arc<AtomicU64>,
    /// Whether the last request succeeded. Only changes are logged.
    is_reachable: bool,
}

impl OtlpCollector {
    /// A collector with the default intervals.
    pub fn new(url: &str) -> Self {
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
    /// Starts the sending thread. `now` returns the current time.
    pub fn start(
        otlp: OtlpCollector,
        metrics: Arc<Metrics>,
        now: fn() -> Timestamp,
    ) -> std::io::Result<Self> {
        let (sender, messages) = sync_channel(MAX_WAITING_SPANS);
        let dropped = Arc::new(AtomicU64::new(0));
        let worker = ExportWorker {
            otlp,
            metrics,
            started: now(),
            now,
            dropped: Arc::clone(&dropped),
            is_reachable: true,
        };
        let thread =
            std::thread::Builder::new().name("telemetry".into()).spawn(move || worker.run(&messages))?;
        Ok(Self { sender, dropped, thread: Mutex::new(Some(thread)) })
    }

    /// Queues the span of a decided call.
    pub fn export_decision(&self, decided: &DecidedCall<'_>) {
        if self.sender.try_send(ExporterMessage::Span(Box::new(DecisionSpan::new(decided)))).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Number of spans that were dropped because the queue was full.
    pub fn dropped_spans(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Sends the remaining spans and counters, and ends the thread.
    pub fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && self.sender.send(ExporterMessage::End).is_ok()
        {
            // The result is ignored: if the thread panicked, the remaining spans are lost anyway.
            drop(thread.join());
        }
    }
}

// === impl ExportWorker ===

impl ExportWorker {
    fn run(mut self, messages: &Receiver<ExporterMessage>) {
        let (mut batch, mut batch_started) = (Vec::new(), Instant::now());
        let mut metrics_sent = Instant::now();
        loop {
            let due = (self.otlp.spans_every.saturating_sub(batch_started.elapsed()))
                .min(self.otlp.metrics_every.saturating_sub(metrics_sent.elapsed()));
            let message = messages.recv_timeout(due.max(Duration::from_millis(1)));
            let is_closing =
                matches!(message, Ok(ExporterMessage::End) | Err(RecvTimeoutError::Disconnected));
            if let Ok(ExporterMessage::Span(span)) = message {
                if batch.is_empty() {
                    batch_started = Instant::now();
                }
                batch.push(*span);
            }
            let waited = batch_started.elapsed() >= self.otlp.spans_every;
            if !batch.is_empty() && (is_closing || waited || batch.len() >= MAX_BATCH_SPANS) {
                let body = otlp::spans_body(&std::mem::take(&mut batch));
                self.send("traces", &body);
            }
            if batch.is_empty() {
                batch_started = Instant::now();
            }
            if is_closing || metrics_sent.elapsed() >= self.otlp.metrics_every {
                metrics_sent = Instant::now();
                let body = otlp::metrics_body(&self.metrics, self.started, (self.now)());
                self.send("metrics", &body);
            }
            if is_closing {
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
            Ok((status, _)) => Some(format!("the collector responded with status {status}")),
            Err(error) => Some(error.to_string()),
        };
        match &why {
            Some(why) if self.is_reachable => {
                tracing::warn!(collector = self.otlp.url, why, "cannot send telemetry to the collector");
            }
            None if !self.is_reachable => {
                let dropped = self.dropped.load(Ordering::Relaxed);
                tracing::info!(collector = self.otlp.url, dropped, "telemetry is sent again");
            }
            _ => {}
        }
        self.is_reachable = why.is_none();
    }
}

#[cfg(test)]
mod tests;
