// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Recognises PowerShell in the text of an unknown shell.

/// Verbs of cmdlets with which text of an unknown shell may begin.
const CMDLET_VERBS: &[&str] = &[
    "add",
    "clear",
    "compress",
    "copy",
    "disable",
    "enable",
    "expand",
    "export",
    "format",
    "get",
    "import",
    "install",
    "invoke",
    "join",
    "measure",
    "move",
    "new",
    "out",
    "register",
    "remove",
    "rename",
    "resolve",
    "restart",
    "restore",
    "select",
    "set",
    "start",
    "stop",
    "test",
    "uninstall",
    "unregister",
    "update",
    "wait",
    "write",
];

/// Whether text begins with a cmdlet or an assignment to `$name`, which no script for another shell does.
pub fn begins_with_powershell(text: &str) -> bool {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix('$') {
        let name_end =
            rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':'))).unwrap_or(rest.len());
        let after = rest.get(name_end..).unwrap_or_default();
        return name_end > 0 && after.starts_with(' ') && after.trim_start().starts_with("= ");
    }
    let word =
        text.split(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '(')).next().unwrap_or_default();
    let Some((verb, noun)) = word.split_once('-') else { return false };
    noun.starts_with(|c: char| c.is_ascii_uppercase())
        && noun.chars().all(char::is_alphanumeric)
        && CMDLET_VERBS.contains(&verb.to_ascii_lowercase().as_str())
}
