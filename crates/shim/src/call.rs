// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The command line of a hook call, and the environment variables that harnesses set.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use crate::harness_rows::{HEADLESS_SIGNS, NEUTRAL_REPLIES, PROJECT_VARIABLES};

/// Default time limit of a call. Harnesses are configured to wait one minute.
pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(55);

/// One hook call of a harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShimCall {
    /// Id of the harness.
    pub harness: String,
    /// Event, as named in the harness's settings.
    pub event: String,
    /// Time limit of the call.
    pub within: Duration,
}

/// Name of the variable in which the harness passes the project root.
pub fn project_variable(harness: &str) -> Option<&'static str> {
    PROJECT_VARIABLES.iter().find(|(id, _)| *id == harness).map(|(_, name)| *name)
}

/// Whether the harness runs without a prompt, according to the variables that it sets for hooks.
pub fn is_headless(harness: &str, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let signs = HEADLESS_SIGNS.iter().filter(|(id, ..)| *id == harness);
    signs.into_iter().any(|(_, name, value)| variable(name).is_some_and(|found| found == *value))
}

/// Standard output that means "no match" for this event.
pub fn neutral_reply(harness: &str, event: &str) -> &'static str {
    let reply = |event: &str| NEUTRAL_REPLIES.iter().find(|row| (row.0, row.1) == (harness, event));
    reply(event).or_else(|| reply("")).map_or("", |(_, _, text)| text)
}

impl ShimCall {
    /// Parses the arguments `<harness> <event> [--within SECONDS]`. Returns `None` for all other arguments; the
    /// caller passes those to the full program, which prints an error message.
    pub fn read(words: &[OsString]) -> Option<Self> {
        let mut names = Vec::with_capacity(2);
        let mut within = DEFAULT_CALL_TIMEOUT;
        let mut words = words.iter().map(OsString::as_os_str);
        while let Some(word) = words.next().map(OsStr::to_str) {
            match word? {
                "--within" => within = seconds(words.next()?.to_str()?)?,
                word if word.starts_with('-') => within = seconds(word.strip_prefix("--within=")?)?,
                word => names.push(word.to_owned()),
            }
        }
        let [harness, event] = <[String; 2]>::try_from(names).ok()?;
        Some(Self { harness, event, within })
    }
}

/// A time limit in seconds, between one second and one hour.
pub fn seconds(text: &str) -> Option<Duration> {
    text.parse().ok().filter(|seconds| (1..=3600).contains(seconds)).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<ShimCall> {
        let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        ShimCall::read(&words)
    }

    #[test]
    fn the_words_of_a_call_are_read() {
        let call = |within| ShimCall { harness: "codex".into(), event: "Stop".into(), within };
        assert_eq!(read("codex Stop"), Some(call(DEFAULT_CALL_TIMEOUT)));
        for line in ["codex Stop --within 5", "--within=5 codex Stop", "codex --within 5 Stop"] {
            assert_eq!(read(line), Some(call(Duration::from_secs(5))), "{line}");
        }
    }

    #[test]
    fn what_is_no_call_is_left_to_the_full_program() {
        for line in
            ["", "codex", "codex a b", "codex a --within", "codex a --within 0", "codex a --json", "--help"]
        {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
