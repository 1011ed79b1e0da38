// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Settings of `git` that say where a remote is.

use tenterhook_programs::{Parsed, Role, WordPart};

use super::arguments::Piece;
use super::command::Found;

/// Adds the addresses in `git -c NAME=VALUE` and `git config NAME VALUE`.
pub(super) fn add_settings<'a>(
    parsed: &Parsed<'_, '_>,
    piece: impl Fn(WordPart<'_>) -> Option<Piece<'a>>,
    found: &mut Found,
) {
    let values = parsed.options.iter().filter(|option| option.role == Role::Assignment);
    for setting in values.filter_map(|option| option.value).filter_map(&piece) {
        if let Some(value) = setting.value().filter(|_| is_address_setting(setting.text)) {
            found.bare(value, "");
        }
    }
    if parsed.path.first() == Some(&"config") {
        let mut operands = parsed.operands.iter().filter_map(|operand| piece(operand.part));
        if operands.by_ref().any(|name| is_address_setting(name.text)) {
            operands.for_each(|value| found.bare(value, ""));
        }
    }
}

/// Whether a setting says where a remote is, or through what to reach it.
fn is_address_setting(name: &str) -> bool {
    let name = name.split('=').next().unwrap_or(name).to_ascii_lowercase();
    name.starts_with("remote.") && (name.ends_with("url") || name.ends_with("proxy"))
        || name == "http.proxy"
        || name == "https.proxy"
}
