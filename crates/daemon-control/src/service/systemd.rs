// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats systemd units and commands.

use super::ServiceDefinition;

pub(super) const NAME: &str = "tenterhook.service";

pub(super) fn format_unit(service: &ServiceDefinition) -> String {
    let variable = |(name, value): &(&str, String)| {
        format!("Environment={}\n", quote_word(&format!("{name}={value}"), false))
    };
    let variables: String = service.variables.iter().map(variable).collect();
    let words: Vec<_> = service.words.iter().map(|word| quote_word(word, true)).collect();
    let target = if service.is_system { "multi-user.target" } else { "default.target" };
    // With `on-failure`, systemd restarts the daemon after a crash. It does not restart the daemon after `tenterhook
    // stop`, or after a signal that requests termination, such as `SIGTERM`.
    format!(
        "[Unit]\nDescription=Tenterhook, one hook system for every AI agent\n\n\
         [Service]\nType=exec\n{variables}ExecStart={}\nRestart=on-failure\nRestartSec=1\nUMask=0077\n\n\
         [Install]\nWantedBy={target}\n",
        words.join(" ")
    )
}

pub(super) fn systemctl(is_system: bool, words: &[&str]) -> Vec<String> {
    let user = (!is_system).then_some("--user");
    ["systemctl"].iter().chain(user.iter()).chain(words).map(ToString::to_string).collect()
}

/// Quotes a word so that systemd expands nothing in it.
fn quote_word(word: &str, is_command: bool) -> String {
    let mut text = String::from("\"");
    for letter in word.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '%' => text.push_str("%%"),
            '$' if is_command => text.push_str("$$"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            _ => text.push(letter),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_word_is_expanded() {
        assert_eq!(quote_word("/opt/a b/100%/$HOME\"\\", true), r#""/opt/a b/100%%/$$HOME\"\\""#);
        assert_eq!(quote_word("A=$x\n", false), "\"A=$x\\n\"");
    }
}
