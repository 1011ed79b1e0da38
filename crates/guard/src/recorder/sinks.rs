// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where checkpoints go, for a process that somebody waits for.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tenterhook_engine::http_post::HttpPost;
use tenterhook_ledger::sink::{
    CheckpointSink, FileSink, JournalSink, Transport, TransportError, WebhookSink, WitnessSink,
};

use super::settings::Destination;

/// How long a server may take.
const LIMIT: Duration = Duration::from_secs(2);
/// How often a hook call, which somebody waits for, asks a server at most.
const PAUSE: Duration = Duration::from_mins(1);
/// No answer is longer, in bytes.
const MOST: usize = 64 * 1024;

/// Posts as hooks do: no proxy, no redirect, no waiting beyond the limit.
struct Http;

impl Transport for Http {
    fn post(&self, url: &str, content_type: &str, body: &[u8]) -> Result<(u16, Vec<u8>), TransportError> {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        let post = HttpPost {
            url: url.to_owned(),
            headers,
            body: body.to_vec(),
            timeout: LIMIT,
            max_response_bytes: MOST,
        };
        post.send().map_err(|error| TransportError(error.to_string()))
    }
}

/// The sinks of these destinations.
pub(super) fn sinks<'d>(destinations: impl Iterator<Item = &'d Destination>) -> Vec<Box<dyn CheckpointSink>> {
    destinations
        .map(|destination| -> Box<dyn CheckpointSink> {
            match destination.clone() {
                Destination::File(path) => Box::new(FileSink(path)),
                Destination::Journal => Box::new(JournalSink(PathBuf::from(JournalSink::SOCKET))),
                Destination::Webhook(url) => Box::new(WebhookSink { url, transport: Http }),
                Destination::Witness(url, key) => {
                    // It says itself what it has seen.
                    Box::new(WitnessSink { url, key: *key, transport: Http, seen: 0 })
                }
            }
        })
        .collect()
}

/// Whether servers are to be asked again. Says yes to one process a minute: one that does not answer
/// costs every caller nothing, and one of them a moment.
pub(super) fn due(dir: &Path) -> bool {
    let stamp = dir.join("sent");
    let asked = std::fs::metadata(&stamp).and_then(|file| file.modified());
    let recently = asked.is_ok_and(|asked| {
        // A moment in the future is a clock that was put back.
        SystemTime::now().duration_since(asked).is_ok_and(|ago| ago < PAUSE)
    });
    // Without a place for the mark nobody is asked, or everybody would be.
    !recently && std::fs::write(&stamp, "").is_ok()
}
