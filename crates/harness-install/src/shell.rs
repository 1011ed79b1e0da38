// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Quoting for `/bin/sh -c`.

/// Quotes any `word` so that a POSIX shell reads it unchanged.
pub fn quote(word: &str) -> String {
    let mut quoted = String::with_capacity(word.len() + 2);
    quoted.push('\'');
    for c in word.chars() {
        match c {
            // Single quotes allow no escapes, so the quote is closed, escaped, and opened again.
            '\'' => quoted.push_str("'\\''"),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        for word in
            ["plain", "", "two words", "it's", "''", "$HOME `id` \\ \"x\" !", "grün/家", "a\nb", "*?[~#;&|<>"]
        {
            let output = std::process::Command::new("/bin/sh")
                .args(["-c", &format!("printf %s {}", quote(word))])
                .output()
                .expect("sh runs");
            assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
    }
}
