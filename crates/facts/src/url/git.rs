// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds addresses of remotes and proxies in `git` settings.

use tenterhook_programs::{ParsedArgs, Role, WordSlice};

use super::command::UrlCollector;
use super::word_fragment::WordFragment;

/// Adds the addresses in `git -c NAME=VALUE` and `git config NAME VALUE`.
pub(super) fn add_settings<'a>(
    parsed: &ParsedArgs<'_, '_>,
    fragment: impl Fn(WordSlice<'_>) -> Option<WordFragment<'a>>,
    found: &mut UrlCollector,
) {
    let values = parsed.options.iter().filter(|option| option.role == Role::Assignment);
    for setting in values.filter_map(|option| option.value).filter_map(&fragment) {
        if let Some(value) = setting.assigned_value().filter(|_| is_address_setting(setting.text)) {
            found.add_host_or_url(value, "");
        }
    }
    if parsed.path.first() == Some(&"config") {
        let mut operands = parsed.operands.iter().filter_map(|operand| fragment(operand.part));
        if operands.by_ref().any(|name| is_address_setting(name.text)) {
            operands.for_each(|value| found.add_host_or_url(value, ""));
        }
    }
}

/// Whether a setting is the address of a remote or of a proxy.
fn is_address_setting(name: &str) -> bool {
    let name = name.split('=').next().unwrap_or(name).to_ascii_lowercase();
    name.starts_with("remote.") && (name.ends_with("url") || name.ends_with("proxy"))
        || name == "http.proxy"
        || name == "https.proxy"
}
