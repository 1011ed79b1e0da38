// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a harness typed, and what its variables say.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use crate::harness_rows::{NEUTRAL_REPLIES, PROJECT_VARIABLES};

/// How long a harness is kept waiting; as installed, harnesses wait a minute.
pub const WITHIN: Duration = Duration::from_secs(55);

/// One call of a harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The harness's id.
    pub harness: String,
    /// The event, as the harness's settings name it.
    pub event: String,
    /// How long an answer may take.
    pub within: Duration,
}

/// The name of the harness's project variable.
pub fn project_variable(harness: &str) -> Option<&'static str> {
    PROJECT_VARIABLES.iter().find(|(id, _)| *id == harness).map(|(_, name)| *name)
}

/// What the harness reads on standard output when no rule or hook matches at this event.
pub fn neutral_reply(harness: &str, event: &str) -> &'static str {
    let reply = |event: &str| NEUTRAL_REPLIES.iter().find(|row| (row.0, row.1) == (harness, event));
    reply(event).or_else(|| reply("")).map_or("", |(_, _, text)| text)
}

impl Call {
    /// Reads the words after the program's name: `<harness> <event> [--within SECONDS]`. `None`: these
    /// are for the full program, which can say what is wrong with them.
    pub fn read(words: &[OsString]) -> Option<Self> {
        let mut names = Vec::with_capacity(2);
        let mut within = WITHIN;
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

/// So many seconds, of which there is at least one and no more than an hour.
pub fn seconds(text: &str) -> Option<Duration> {
    text.parse().ok().filter(|seconds| (1..=3600).contains(seconds)).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Call> {
        let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        Call::read(&words)
    }

    #[test]
    fn the_words_of_a_call_are_read() {
        let call = |within| Call { harness: "codex".into(), event: "Stop".into(), within };
        assert_eq!(read("codex Stop"), Some(call(WITHIN)));
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
