// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The ledger as a file that can be handed on: all of it, or a report.

use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tenterhook_files::{FileClass, read_bytes};
use tenterhook_home::{Failure, door, moment};
use tenterhook_ledger::{Format, Reader};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::api::{failed, refuse};
use crate::daemon::Daemon;
use crate::own;

/// No report is larger.
const MAX_REPORT_BYTES: u64 = 256 << 20;
/// How much is put together before it is sent.
const PART: usize = 256 * 1024;

#[derive(Deserialize)]
pub(super) struct Wanted {
    format: Option<String>,
}

pub(super) async fn export(State(daemon): State<Arc<Daemon>>, Query(wanted): Query<Wanted>) -> Response {
    let (format, media, name) = match wanted.format.as_deref() {
        None | Some("jsonl") => (Format::Jsonl, "application/jsonl", "ledger.jsonl"),
        Some("csv") => (Format::Csv, "text/csv; charset=utf-8", "ledger.csv"),
        Some(other) => {
            let message = format!("`{}` is no format", crate::sessions::clean(other, 100));
            return refuse(StatusCode::BAD_REQUEST, &message, Some("say jsonl or csv"));
        }
    };
    // What no checkpoint covers yet is signed first.
    let ledger = daemon.ledger.clone();
    let signed = tokio::task::spawn_blocking(move || ledger.checkpoint().map(drop)).await;
    if let Ok(Err(error)) = signed {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None);
    }
    // A reader of its own: this one is busy for long.
    let reader = match Reader::open(&daemon.home.ledger()) {
        Ok(reader) => reader,
        Err(error) => return refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    };
    let (sender, parts) = channel(4);
    tokio::task::spawn_blocking(move || {
        let mut out = Parts { sender, held: Vec::with_capacity(PART) };
        // Whoever does not read any more ends it.
        if let Err(error) = reader.export(format, &mut out).map_err(|error| error.to_string()) {
            tracing::debug!(error, "an export ended early");
        }
        drop(out.flush());
    });
    let body = Body::from_stream(futures_util::stream::unfold(parts, next));
    file(media, name, body)
}

async fn next(mut parts: Receiver<Bytes>) -> Option<(Result<Bytes, Infallible>, Receiver<Bytes>)> {
    let part = parts.recv().await?;
    Some((Ok(part), parts))
}

/// Puts small writes together and sends them on.
struct Parts {
    sender: Sender<Bytes>,
    held: Vec<u8>,
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= PART {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        let part = std::mem::take(&mut self.held);
        self.sender.blocking_send(part.into()).map_err(|_| std::io::ErrorKind::BrokenPipe.into())
    }
}

#[derive(Deserialize)]
pub(super) struct Period {
    since: Option<String>,
    session: Option<String>,
}

pub(super) async fn report(State(daemon): State<Arc<Daemon>>, Query(period): Query<Period>) -> Response {
    let mut args: Vec<String> = vec!["ledger".into(), "report".into()];
    if let Some(since) = period.since {
        if let Err(why) = moment::read(&since, door::now_ms()) {
            return refuse(StatusCode::BAD_REQUEST, &why, Some("say 24h, 7d or 2026-11-15"));
        }
        args.extend(["--since".into(), since]);
    }
    if let Some(session) = period.session {
        args.push(format!("--session={session}"));
    }
    match written(&daemon, args).await {
        Ok(page) => file("text/html; charset=utf-8", "tenterhook-report.html", page.into()),
        Err(failure) => failed(&failure),
    }
}

async fn written(daemon: &Arc<Daemon>, mut args: Vec<String>) -> Result<Vec<u8>, Failure> {
    // In a directory of the owner's: payloads are in it.
    let path = daemon.home.run().join(format!("report-{}.html", door::mint()?.id));
    args.extend(["--output".into(), path.display().to_string()]);
    let ran = own::run(daemon, args).await;
    let page =
        ran.and_then(|_| Ok(read_bytes(&path, FileClass::State, MAX_REPORT_BYTES)?.unwrap_or_default()));
    drop(fs_err::remove_file(&path));
    page
}

/// An answer that a browser saves, and never shows as a page of ours.
fn file(media: &'static str, name: &str, body: Body) -> Response {
    let saved = format!("attachment; filename=\"{name}\"");
    ([(header::CONTENT_TYPE, media.to_owned()), (header::CONTENT_DISPOSITION, saved)], body).into_response()
}
