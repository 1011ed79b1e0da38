// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A small HTTP server that keeps the bodies of requests, such as a webhook or an OpenTelemetry collector.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// A request: its path and its body.
pub(crate) type CollectedRequest = (String, Value);

/// The server. It runs until the test ends.
pub(crate) struct HttpCollector {
    pub(crate) url: String,
    accepted: Arc<Mutex<Vec<CollectedRequest>>>,
    refused: Arc<Mutex<Vec<CollectedRequest>>>,
}

impl HttpCollector {
    /// Starts the server, which accepts requests for which `accepts` returns true and refuses others with status 400.
    pub(crate) fn start(accepts: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (accepted, refused): (Arc<Mutex<Vec<_>>>, Arc<Mutex<Vec<_>>>) = Default::default();
        let (kept, kept_refused, accepts) = (accepted.clone(), refused.clone(), Arc::new(accepts));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, kept_refused, accepts) = (kept.clone(), kept_refused.clone(), accepts.clone());
                std::thread::spawn(move || {
                    let Some(request) = read_request(&stream) else { return };
                    let is_accepted = accepts(&request.1);
                    let status = if is_accepted { "200 OK" } else { "400 Bad Request" };
                    if is_accepted { kept } else { kept_refused }.lock().unwrap().push(request);
                    let answer =
                        format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
                    // The client may be gone.
                    drop((&stream).write_all(answer.as_bytes()));
                });
            }
        });
        Self { url, accepted, refused }
    }

    /// Returns the requests that were accepted so far.
    pub(crate) fn accepted(&self) -> Vec<CollectedRequest> {
        self.accepted.lock().unwrap().clone()
    }

    /// Returns the number of requests that were refused so far.
    pub(crate) fn refused(&self) -> usize {
        self.refused.lock().unwrap().len()
    }
}

fn read_request(stream: &TcpStream) -> Option<CollectedRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, serde_json::from_slice(&body).ok()?))
}
