// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Exports the ledger as a file, either all records or a report.

use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use tenterhook_api::{ExportFormat, ExportQuery, ReportQuery};
use tenterhook_error::Failure;
use tenterhook_event::Timestamp;
use tenterhook_home::call_meta;
use tenterhook_ledger::{FileFormat, Filter, Reader};
use tenterhook_records::time_spec;
use tenterhook_report::write_report;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::api::error::{ApiError, run_blocking};
use crate::api::extract::QueryParams;
use crate::api::shape::{HtmlMedia, LedgerExportMedia, TextResponse};
use crate::daemon::Daemon;

/// Size of the chunks in which an export is sent.
const EXPORT_CHUNK_BYTES: usize = 256 * 1024;

pub(super) async fn export(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(ExportQuery { format }): QueryParams<ExportQuery>,
) -> Result<TextResponse<LedgerExportMedia>, ApiError> {
    let (format, media, name) = match format {
        None | Some(ExportFormat::Jsonl) => (FileFormat::Jsonl, "application/jsonl", "ledger.jsonl"),
        Some(ExportFormat::Csv) => (FileFormat::Csv, "text/csv; charset=utf-8", "ledger.csv"),
    };
    let reader = open_covered(&daemon).await?;
    let (sender, chunks) = channel(4);
    tokio::task::spawn_blocking(move || {
        let mut out = ChunkWriter { sender, buffer: Vec::with_capacity(EXPORT_CHUNK_BYTES) };
        // Writing fails when the client disconnects.
        if let Err(error) = reader.export(format, &mut out).map_err(|error| error.to_string()) {
            tracing::debug!(error, "an export ended early");
        }
        drop(out.flush());
    });
    let body = Body::from_stream(futures_util::stream::unfold(chunks, next));
    Ok(attachment(media, name, body))
}

async fn next(mut chunks: Receiver<Bytes>) -> Option<(Result<Bytes, Infallible>, Receiver<Bytes>)> {
    let part = chunks.recv().await?;
    Some((Ok(part), chunks))
}

/// Collects small writes and sends them in chunks.
struct ChunkWriter {
    sender: Sender<Bytes>,
    buffer: Vec<u8>,
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= EXPORT_CHUNK_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let part = std::mem::take(&mut self.buffer);
        self.sender.blocking_send(part.into()).map_err(|_| std::io::ErrorKind::BrokenPipe.into())
    }
}

pub(super) async fn report(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(ReportQuery { since, session }): QueryParams<ReportQuery>,
) -> Result<TextResponse<HtmlMedia>, ApiError> {
    let now = call_meta::now();
    let since = since.map(|since| {
        time_spec::parse_time_spec(&since, now.unix_ms())
            .map_err(|why| ApiError::bad_request(why.to_string()).hint("write it as 24h, 7d or 2026-11-15"))
    });
    let from_ms = since.transpose()?.map(Timestamp::unix_ms);
    let filter = Filter { session, from_ms, ..Filter::default() };
    let reader = open_covered(&daemon).await?;
    let written = run_blocking(move || {
        write_report(&reader, &filter, now).map_err(|error| Failure::internal(error.to_string()))
    });
    let report = written.await?;
    Ok(attachment("text/html; charset=utf-8", "tenterhook-report.html", report.html.into()))
}

/// Opens a separate reader for long work. Signs a checkpoint first if records are not yet covered by one.
async fn open_covered(daemon: &Daemon) -> Result<Reader, ApiError> {
    let (ledger, dir) = (daemon.ledger.clone(), daemon.home.ledger());
    let opened = run_blocking(move || {
        ledger.checkpoint().map_err(|error| Failure::internal(error.to_string()))?;
        Reader::open(&dir).map_err(|error| Failure::internal(error.to_string()))
    });
    opened.await
}

/// Builds a response that a browser saves as a file. If the browser displayed it, the content would run with
/// the dashboard's origin.
fn attachment<M>(media: &'static str, name: &str, body: Body) -> TextResponse<M> {
    let saved = format!("attachment; filename=\"{name}\"");
    TextResponse::new((
        [(header::CONTENT_TYPE, media.to_owned()), (header::CONTENT_DISPOSITION, saved)],
        body,
    ))
}
