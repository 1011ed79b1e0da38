// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses questions: the requests of the hook protocol.

use std::time::Duration;

use tenterhook_shim::wire::{self, ClientRequest, MAX_HEADER_BYTES};

/// Maximum time for a call, even if the caller asks for more. Our shim waits 55 s.
const MAX_CALL_TIME: Duration = Duration::from_mins(1);

/// A message of the hook protocol.
pub(super) enum Question {
    Status {
        revision: u32,
    },
    Hook(HookQuestion),
    /// The question is incomplete: at least this many bytes have not arrived yet.
    Unfinished {
        missing: usize,
        /// Length of the whole question, or 0 if it is not known yet.
        announced: usize,
    },
    Malformed(&'static str),
}

pub(super) struct HookQuestion {
    pub(super) harness: String,
    pub(super) event: String,
    pub(super) id: String,
    /// Version of the hook program.
    pub(super) version: String,
    /// Revision of the hook protocol (TH1) that the hook program uses.
    pub(super) revision: u32,
    pub(super) project: Option<String>,
    pub(super) headless: bool,
    pub(super) parent: u32,
    pub(super) within: Duration,
    pub(super) bytes: Vec<u8>,
    /// Offset of the payload in `bytes`.
    pub(super) header: usize,
}

impl HookQuestion {
    pub(super) fn payload(&self) -> &[u8] {
        self.bytes.get(self.header..).unwrap_or_default()
    }
}

impl Question {
    /// Parses the bytes. A complete question takes ownership of them.
    pub(super) fn read(bytes: &mut Vec<u8>) -> Self {
        let (request, header) = match ClientRequest::read(bytes) {
            Err(wire::Malformed(why)) => return Self::Malformed(why),
            Ok(Some((ClientRequest::Status { revision }, _))) => return Self::Status { revision },
            Ok(Some((ClientRequest::Hook(request), header))) => (request, header),
            Ok(None) if bytes.len() > MAX_HEADER_BYTES => return Self::Malformed("the header is too long"),
            Ok(None) => return Self::Unfinished { missing: MAX_HEADER_BYTES, announced: 0 },
        };
        let whole = header + request.payload_len;
        if let Some(missing) = whole.checked_sub(bytes.len()).filter(|missing| *missing > 0) {
            return Self::Unfinished { missing, announced: whole };
        }
        let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(ToOwned::to_owned);
        let mut hook = HookQuestion {
            harness: request.harness.to_owned(),
            event: request.event.to_owned(),
            id: request.id.to_owned(),
            version: request.version.to_owned(),
            revision: request.revision,
            project: request.project.and_then(text),
            headless: request.headless,
            parent: request.parent,
            within: Duration::from_millis(request.within_ms).min(MAX_CALL_TIME),
            header,
            bytes: Vec::new(),
        };
        bytes.truncate(whole);
        hook.bytes = std::mem::take(bytes);
        Self::Hook(hook)
    }
}
