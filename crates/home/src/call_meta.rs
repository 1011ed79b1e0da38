// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Creates the id and the timestamp of a hook call.

use std::time::{SystemTime, UNIX_EPOCH};

use tenterhook_event::{EventId, Timestamp};
use tenterhook_harness::CallMeta;

use tenterhook_error::Failure;

/// Creates the metadata of a call: a new id, the current time and an empty event name.
pub fn mint() -> Result<CallMeta, Failure> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)
        .map_err(|error| Failure::internal(format!("cannot generate an event id: {error}")))?;
    let ms = now_ms();
    let id = EventId::from_parts(ms, u128::from_ne_bytes(random));
    Ok(CallMeta::new(id, Timestamp::from_unix_ms(ms), ""))
}

/// Milliseconds since the Unix epoch.
pub fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// The current time.
pub fn now() -> Timestamp {
    Timestamp::from_unix_ms(now_ms())
}
