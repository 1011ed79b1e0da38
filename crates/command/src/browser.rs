// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Opens the default browser.

use std::process::{Command, Stdio};

use crate::env::Env;

/// Whether a graphical browser can be opened on this machine.
pub fn has_display(env: &Env) -> bool {
    let set = |name: &str| env.all.get(name).is_some_and(|value| !value.is_empty());
    cfg!(target_os = "macos") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Opens a URL in the default browser. Returns whether the browser was started.
pub fn open_browser(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
