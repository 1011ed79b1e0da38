// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Removes comments and trailing commas from settings that a harness reads as plain JSON. Such a harness ignores the
//! whole file if it contains them. A backup of the original is kept.

use std::path::{Path, PathBuf};

use tenterhook_files::{FileClass, read_text};
use tenterhook_home::write_atomic;

use tenterhook_error::Failure;

/// Suffix of the backup's name.
const BACKUP_SUFFIX: &str = "with-comments";

/// Larger than any settings file of a harness.
const MAX_SETTINGS_BYTES: u64 = 16 << 20;

/// Whether a file would be plain JSON without its comments and trailing commas.
pub fn can_become_plain(path: &Path) -> bool {
    let Ok(Some(text)) = read_text(path, FileClass::Configuration, MAX_SETTINGS_BYTES) else { return false };
    !is_plain(&text) && is_plain(&without_comments(&text))
}

/// Removes comments and trailing commas from a file. Returns the path of the backup.
pub fn make_plain(path: &Path) -> Result<PathBuf, Failure> {
    // The target is edited, so a symbolic link (for example of a dotfile manager) stays a link.
    let path = &fs_err::canonicalize(path)?;
    let text = read_text(path, FileClass::Configuration, MAX_SETTINGS_BYTES)?.unwrap_or_default();
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs_err::metadata(path)?.permissions()) & 0o777;
    let mut backup = path.as_os_str().to_owned();
    backup.push(format!(".{BACKUP_SUFFIX}"));
    let backup = PathBuf::from(backup);
    write_atomic(&backup, text.as_bytes(), mode)?;
    write_atomic(path, without_comments(&text).as_bytes(), mode)?;
    Ok(backup)
}

fn is_plain(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text.trim_start_matches('\u{feff}')).is_ok()
}

/// The text without comments and trailing commas. Everything else, including strings, is unchanged.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if letter == '"' {
            let end = end_of_string(rest);
            let (string, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            out.push_str(string);
            rest = after;
        } else if rest.starts_with("//") {
            rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default();
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").and_then(|end| rest.get(end + 2..)).unwrap_or_default();
        } else {
            if matches!(letter, '}' | ']') {
                drop_trailing_comma(&mut out);
            }
            out.push(letter);
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

/// End of the string literal at the start of the text, including its quotes.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn drop_trailing_comma(out: &mut String) {
    let solid = out.trim_end().len();
    if out.trim_end().ends_with(',') {
        out.remove(solid - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_and_trailing_commas_go() {
        let text = "{\n  // why\n  \"a\": \"x // y, ]\\\" /* z */\", /* c */\n  \"b\": [1, 2,],\n}\n";
        let plain = without_comments(text);
        let value: serde_json::Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value, serde_json::json!({"a": "x // y, ]\" /* z */", "b": [1, 2]}));
        assert_eq!(without_comments("{\"a\": 1}\n"), "{\"a\": 1}\n");
    }
}
