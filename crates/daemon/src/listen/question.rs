// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Questions of the hook protocol, as they arrive.

use std::time::Duration;

use tenterhook_shim::wire::{self, ClientRequest, MAX_HEADER_BYTES};

/// Longest time that a call waits, even if the caller asks for more: our own hook waits 55 s.
const MAX_WITHIN: Duration = Duration::from_mins(1);

/// A message of the hook protocol.
pub(super) enum Question {
    Status {
        revision: u32,
    },
    Hook(Hook),
    /// At least this many bytes have not arrived yet.
    Unfinished {
        missing: usize,
        /// How long the whole question will be, if that is known already.
        announced: usize,
    },
    Malformed(&'static str),
}

pub(super) struct Hook {
    pub(super) harness: String,
    pub(super) event: String,
    pub(super) id: String,
    /// Version of the hook program.
    pub(super) version: String,
    /// Revision of TH1 that it speaks.
    pub(super) revision: u32,
    pub(super) project: Option<String>,
    pub(super) parent: u32,
    pub(super) within: Duration,
    pub(super) bytes: Vec<u8>,
    /// Where the payload begins.
    pub(super) header: usize,
}

impl Hook {
    pub(super) fn payload(&self) -> &[u8] {
        self.bytes.get(self.header..).unwrap_or_default()
    }
}

impl Question {
    /// Reads what is there. The bytes of a whole question go into it.
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
        let mut hook = Hook {
            harness: request.harness.to_owned(),
            event: request.event.to_owned(),
            id: request.id.to_owned(),
            version: request.version.to_owned(),
            revision: request.revision,
            project: request.project.and_then(text),
            parent: request.parent,
            within: Duration::from_millis(request.within_ms).min(MAX_WITHIN),
            header,
            bytes: Vec::new(),
        };
        bytes.truncate(whole);
        hook.bytes = std::mem::take(bytes);
        Self::Hook(hook)
    }
}
