// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends HTTP requests to a state directory's daemon over its Unix socket.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tenterhook_home::Home;
use tenterhook_shim::ask::connect;

use tenterhook_error::Failure;

/// Default time limit for a response.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a response.
const MAX_ANSWER_BYTES: u64 = 256 << 20;

/// The daemon's response.
struct HttpAnswer {
    status: u16,
    body: Value,
}

/// Whether a daemon accepts connections.
pub fn is_up(home: &Home) -> bool {
    connect(&home.socket(), CONNECT_TIMEOUT).is_ok()
}

/// Sends a GET request. Returns `None` if no daemon is running.
pub fn get(home: &Home, path: &str) -> Result<Option<Value>, Failure> {
    request(home, "GET", path, None)
}

/// Sends a GET request and parses the response. Returns `None` if no daemon is running.
pub fn get_as<T: DeserializeOwned>(home: &Home, path: &str) -> Result<Option<T>, Failure> {
    let parsed = get(home, path)?.map(serde_json::from_value).transpose();
    parsed.map_err(|error| {
        Failure::internal(format!("unexpected response of the daemon: {error}"))
            .hint("if the daemon has another version, run `tenterhook daemon restart`")
    })
}

/// Sends a request with an optional body. Returns `None` if no daemon is running.
pub fn request(
    home: &Home,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Option<Value>, Failure> {
    request_within(home, method, path, body, ANSWER_TIMEOUT)
}

/// Sends a request whose response may take longer than the default limit. Returns `None` if no daemon is running.
pub fn request_within(
    home: &Home,
    method: &str,
    path: &str,
    body: Option<&Value>,
    timeout: Duration,
) -> Result<Option<Value>, Failure> {
    let Some(answer) = send_request(home, method, path, body, timeout)? else { return Ok(None) };
    if (200..300).contains(&answer.status) {
        return Ok(Some(answer.body));
    }
    let text = |key: &str| answer.body.pointer(&format!("/error/{key}")).and_then(Value::as_str);
    let message = text("message").unwrap_or("the daemon refused the request without a reason");
    let error = match answer.status {
        400 => Failure::user(message),
        403 => Failure::denied(message),
        404 => Failure::not_found(message),
        409 => Failure::conflict(message),
        503 => Failure::busy(message),
        _ => Failure::internal(message),
    };
    Err(text("hint").and_then(hint_for_users).into_iter().fold(error, Failure::hint))
}

/// Sends a request and returns its status and body, also if it was refused. Returns `None` if no daemon is running.
pub fn request_status(
    home: &Home,
    method: &str,
    path: &str,
    body: Option<&Value>,
    timeout: Duration,
) -> Result<Option<(u16, Value)>, Failure> {
    Ok(send_request(home, method, path, body, timeout)?.map(|answer| (answer.status, answer.body)))
}

/// Adapts a hint of the API to the command line. If the hint names API paths, it is replaced with the command for the
/// first path, because command-line users do not send requests themselves.
fn hint_for_users(hint: &str) -> Option<String> {
    const COMMANDS: &[(&str, &str)] = &[
        ("/v1/approvals", "`tenterhook approvals list` lists them"),
        ("/v1/hooks", "`tenterhook hooks list` lists them"),
        ("/v1/ledger", "`tenterhook ledger query` lists them"),
        ("/v1/sessions", "`tenterhook sessions list` lists them"),
    ];
    if !hint.contains("/v1/") {
        return Some(hint.to_owned());
    }
    // The first path in the hint is the one that the request is about.
    let named = COMMANDS.iter().filter_map(|(path, command)| Some((hint.find(path)?, command)));
    named.min_by_key(|(at, _)| *at).map(|(_, command)| (*command).to_owned())
}

/// Reads an event stream from the daemon until `each` returns false.
pub fn stream(
    home: &Home,
    path: &str,
    each: &mut dyn FnMut(&str, &Value) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let ended =
        || Failure::internal("the daemon stopped, or closed the stream").hint("run `tenterhook status`");
    let Ok(mut stream) = connect(&home.socket(), CONNECT_TIMEOUT) else { return Err(ended()) };
    // The daemon sends keepalives more often than this timeout.
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    // HTTP/1.0 responses are not chunked.
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: tenterhook\r\n\r\n").as_bytes())?;
    let mut lines = BufReader::new(stream).lines();
    let status = lines.next().transpose()?.unwrap_or_default();
    if !status.contains(" 200 ") {
        return Err(Failure::internal(format!("the daemon refused: {status}")));
    }
    let (mut kind, mut data) = (String::new(), String::new());
    for line in lines.skip_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())) {
        let line = line.map_err(|_| ended())?;
        if let Some(text) = line.strip_prefix("event: ") {
            text.clone_into(&mut kind);
        } else if let Some(text) = line.strip_prefix("data: ") {
            data += text;
        } else if line.is_empty() && !data.is_empty() {
            let value = serde_json::from_str(&std::mem::take(&mut data)).unwrap_or_default();
            if !each(&kind, &value)? {
                return Ok(());
            }
        }
    }
    Err(ended())
}

fn send_request(
    home: &Home,
    method: &str,
    path: &str,
    body: Option<&Value>,
    timeout: Duration,
) -> Result<Option<HttpAnswer>, Failure> {
    let Ok(mut stream) = connect(&home.socket(), CONNECT_TIMEOUT) else { return Ok(None) };
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    let body = body.map(ToString::to_string).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: tenterhook\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let no_response = |error: std::io::Error| {
        Failure::internal(format!("the daemon does not answer: {error}"))
            .hint("run `tenterhook daemon restart`")
    };
    stream.write_all(request.as_bytes()).map_err(no_response)?;
    let mut bytes = Vec::new();
    stream.take(MAX_ANSWER_BYTES).read_to_end(&mut bytes).map_err(no_response)?;
    parse_response(&bytes).map(Some).ok_or_else(|| Failure::internal("malformed response of the daemon"))
}

/// Parses a complete HTTP response.
fn parse_response(bytes: &[u8]) -> Option<HttpAnswer> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let has_header = |header: &str| head.to_ascii_lowercase().contains(header);
    let chunked = has_header("transfer-encoding: chunked");
    let body = bytes.get(end + 4..)?;
    let body = if chunked { decode_chunks(body)? } else { body.to_vec() };
    let body = match body.as_slice() {
        [] => Value::Null,
        text if has_header("content-type: text/plain") => {
            Value::String(String::from_utf8(text.to_vec()).ok()?)
        }
        json => serde_json::from_slice(json).ok()?,
    };
    Some(HttpAnswer { status, body })
}

fn decode_chunks(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let line = bytes.windows(2).position(|two| two == b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(bytes.get(..line)?).ok()?.trim(), 16).ok()?;
        let begin = line + 2;
        if length == 0 {
            return Some(whole);
        }
        whole.extend(bytes.get(begin..begin + length)?);
        bytes = bytes.get(begin + length + 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_commands_and_not_requests() {
        let hint = hint_for_users("GET /v1/sessions lists them").unwrap();
        assert_eq!(hint, "`tenterhook sessions list` lists them");
        assert_eq!(hint_for_users("GET /v1/sessions lists them; GET /v1/ledger has all").unwrap(), hint);
        assert_eq!(hint_for_users("wait a minute").as_deref(), Some("wait a minute"));
        assert_eq!(hint_for_users("GET /v1/other lists them"), None);
    }

    #[test]
    fn an_answer_is_read_whole_or_in_chunks() {
        let plain = parse_response(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n{\"a\": 1}").unwrap();
        assert_eq!((plain.status, plain.body), (200, serde_json::json!({"a": 1})));
        let chunks = b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n4\r\n: 1}\r\n0\r\n\r\n";
        let chunked = parse_response(chunks).unwrap();
        assert_eq!((chunked.status, chunked.body), (404, serde_json::json!({"a": 1})));
        assert!(parse_response(b"HTTP/1.1 200 OK\r\n\r\n{").is_none());
        let text =
            parse_response(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nas it is\n")
                .unwrap();
        assert_eq!(text.body, "as it is\n");
    }
}
