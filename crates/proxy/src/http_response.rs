// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rewrites the head of a response: the connection to the client serves one request.

/// A rewritten head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ResponseHead {
    /// The bytes for the client.
    pub(crate) bytes: Vec<u8>,
    /// Whether another response follows, because this one is informational.
    pub(crate) is_interim: bool,
}

/// Fields that concern only the connection to the target.
const HOP_FIELDS: &[&[u8]] = &[b"connection", b"keep-alive", b"proxy-connection", b"upgrade"];

/// Rewrites a complete head. `None` if it is not the head of an HTTP/1 response.
pub(crate) fn rewrite_response_head(head: &[u8]) -> Option<ResponseHead> {
    let text = head.strip_suffix(b"\r\n\r\n").or_else(|| head.strip_suffix(b"\n\n"))?;
    let mut lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let status = lines.next()?;
    let code = status.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5))?;
    let code: u16 = str::from_utf8(code).ok()?.parse().ok()?;
    let is_interim = (100..200).contains(&code) && code != 101;
    let mut bytes = status.to_vec();
    bytes.extend_from_slice(b"\r\n");
    for line in lines {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default().trim_ascii();
        if !HOP_FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field)) {
            bytes.extend_from_slice(line);
            bytes.extend_from_slice(b"\r\n");
        }
    }
    if !is_interim {
        bytes.extend_from_slice(b"Connection: close\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    Some(ResponseHead { bytes, is_interim })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(head: &str) -> Option<(String, bool)> {
        let head = rewrite_response_head(head.as_bytes())?;
        Some((String::from_utf8(head.bytes).unwrap(), head.is_interim))
    }

    #[test]
    fn a_response_ends_the_connection() {
        assert_eq!(
            rewritten("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nX: 1\r\n\r\n"),
            Some(("HTTP/1.1 200 OK\r\nX: 1\r\nConnection: close\r\n\r\n".to_owned(), false))
        );
        assert_eq!(
            rewritten("HTTP/1.1 100 Continue\r\n\r\n"),
            Some(("HTTP/1.1 100 Continue\r\n\r\n".to_owned(), true))
        );
        assert_eq!(rewritten("SSH-2.0-x\r\n\r\n"), None);
        assert_eq!(rewritten("HTTP/1.1 abc\r\n\r\n"), None);
    }
}
