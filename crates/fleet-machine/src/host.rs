// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Names and identity of this host.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use tenterhook_files::{FileClass, read_text};
use tenterhook_fleet_protocol::InstanceId;

/// Files with the identity of a host.
const MACHINE_ID_FILES: [&str; 2] = ["/etc/machine-id", "/var/lib/dbus/machine-id"];

/// Maximum length of these files.
const MAX_MACHINE_ID_BYTES: u64 = 4 << 10;

/// Returns the name of the host.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the operating system and architecture.
pub(crate) fn os_name() -> String {
    format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
}

/// Returns the id of this copy of the machine. A copy of the state directory on another host has another id.
pub(crate) fn instance(seed: InstanceId) -> InstanceId {
    let id = MACHINE_ID_FILES
        .iter()
        .find_map(|path| read_text(Path::new(path), FileClass::Named, MAX_MACHINE_ID_BYTES).ok().flatten());
    let host = id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).unwrap_or_else(host_name);
    InstanceId::derive(&seed.0, &host)
}

/// Returns the time in milliseconds since the Unix epoch.
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the time in seconds since the Unix epoch.
pub(crate) fn now() -> u64 {
    now_ms() / 1000
}
