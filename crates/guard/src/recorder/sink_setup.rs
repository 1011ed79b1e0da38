// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the sinks for checkpoints, for a process whose caller waits.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tenterhook_engine::http_post::HttpPost;
use tenterhook_ledger::sink::{
    CheckpointSink, FileSink, JournalSink, Transport, TransportError, WebhookSink, WitnessSink,
};

use super::ledger_settings::SinkSetting;

/// Timeout of a request to a server.
const SINK_TIMEOUT: Duration = Duration::from_secs(2);
/// Minimum interval between two requests to servers. There is a minimum because the caller of a hook waits for the
/// requests.
const REMOTE_SEND_INTERVAL: Duration = Duration::from_mins(1);
/// Maximum size of a response.
const MAX_SINK_RESPONSE_BYTES: usize = 64 * 1024;

/// Sends requests in the same way as hooks do: without a proxy or redirects, and with a timeout.
struct HttpTransport;

impl Transport for HttpTransport {
    fn post(&self, url: &str, content_type: &str, body: &[u8]) -> Result<(u16, Vec<u8>), TransportError> {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        let post = HttpPost {
            url: url.to_owned(),
            headers,
            body: body.to_vec(),
            timeout: SINK_TIMEOUT,
            max_response_bytes: MAX_SINK_RESPONSE_BYTES,
        };
        post.send().map_err(|error| TransportError(error.to_string()))
    }
}

/// Builds the sinks for these settings.
pub(super) fn build_sinks<'d>(
    settings: impl Iterator<Item = &'d SinkSetting>,
) -> Vec<Box<dyn CheckpointSink>> {
    settings
        .map(|setting| -> Box<dyn CheckpointSink> {
            match setting.clone() {
                SinkSetting::File(path) => Box::new(FileSink(path)),
                SinkSetting::Journal => Box::new(JournalSink(PathBuf::from(JournalSink::SOCKET))),
                SinkSetting::Webhook(url) => Box::new(WebhookSink { url, transport: HttpTransport }),
                SinkSetting::Witness(url, key) => {
                    // The witness reports the ledger size that it has seen.
                    Box::new(WitnessSink { url, key: *key, transport: HttpTransport, seen: 0 })
                }
            }
        })
        .collect()
}

/// Returns whether this process contacts the servers now. The result is true for one process per interval, so that an
/// unresponsive server delays only one caller.
pub(super) fn claim_remote_send(dir: &Path) -> bool {
    let stamp = dir.join("sent");
    let asked = std::fs::metadata(&stamp).and_then(|file| file.modified());
    let recently = asked.is_ok_and(|asked| {
        // A timestamp in the future means that the clock was set back.
        SystemTime::now().duration_since(asked).is_ok_and(|ago| ago < REMOTE_SEND_INTERVAL)
    });
    // If the timestamp file cannot be written, servers are not contacted. Otherwise every process would contact them.
    !recently && std::fs::write(&stamp, "").is_ok()
}
