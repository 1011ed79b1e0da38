// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The content of a notification. Notifications leave the machine, so they contain only what a user needs to decide
//! whether to look: tool, short summary, rule, time left and how to answer.

use std::path::PathBuf;

use tenterhook_event::EventId;
use tenterhook_records::sanitize;

/// Maximum length of the summary.
const MAX_SUMMARY_CHARS: usize = 200;
/// Maximum length of names, which agents or rule files choose.
const MAX_NAME_CHARS: usize = 80;

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeKind {
    /// A call waits for an approval in Tenterhook.
    Approval,
    /// The harness asks the user with its own prompt.
    Asked,
    /// A call was denied.
    Denied,
    /// A test that a user requested.
    #[serde(skip_deserializing)]
    Test,
}

/// One notification, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What the notice is about.
    pub kind: NoticeKind,
    /// Harness that makes the call.
    pub harness: String,
    /// Tool that is called.
    pub tool: Option<String>,
    /// Short description of the call.
    pub summary: String,
    /// Rule that asks or denies.
    pub rule: Option<String>,
    /// Seconds left to answer.
    pub seconds_left: Option<u64>,
    /// Id of the call.
    pub id: String,
    /// Short name of the call.
    pub name: String,
    /// Number of further notices that were merged into this one.
    pub more: u64,
    /// Terminal in which the harness runs; used by the bell only.
    pub terminal: Option<PathBuf>,
}

impl Notice {
    /// Creates a notice. Secrets in the texts are replaced, line ends and control characters too.
    pub fn new(kind: NoticeKind, harness: &str, id: &str) -> Self {
        Self {
            kind,
            harness: clean(harness, MAX_NAME_CHARS),
            tool: None,
            summary: String::new(),
            rule: None,
            seconds_left: None,
            id: clean(id, MAX_NAME_CHARS),
            name: id.parse().map(EventId::short_name).unwrap_or_default(),
            more: 0,
            terminal: None,
        }
    }

    /// The notice that a user requests to test the targets.
    pub fn test() -> Self {
        Self::new(NoticeKind::Test, "tenterhook", "").with_call(None, "this is a test", None)
    }

    /// Adds the description of the call.
    #[must_use]
    pub fn with_call(mut self, tool: Option<&str>, summary: &str, rule: Option<&str>) -> Self {
        self.tool = tool.map(|tool| clean(tool, MAX_NAME_CHARS));
        self.summary = clean(summary, MAX_SUMMARY_CHARS);
        self.rule = rule.map(|rule| clean(rule, MAX_NAME_CHARS));
        self
    }

    /// The title of the notification.
    pub fn title(&self) -> &'static str {
        match self.kind {
            NoticeKind::Approval => "Tenterhook: approval needed",
            NoticeKind::Asked => "Tenterhook: the agent asks you",
            NoticeKind::Denied => "Tenterhook: call denied",
            NoticeKind::Test => "Tenterhook: test notification",
        }
    }

    /// The call in one line: harness, tool and summary.
    pub fn call_line(&self) -> String {
        let words = [Some(self.harness.as_str()), self.tool.as_deref(), Some(self.summary.as_str())];
        words.into_iter().flatten().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" · ")
    }

    /// How the user can answer, or allow a call that was denied.
    pub fn answer_line(&self) -> Option<String> {
        match self.kind {
            NoticeKind::Approval => Some(format!("tenterhook approvals show {}", self.name)),
            NoticeKind::Asked => Some(format!("answer the prompt of {}", self.harness)),
            NoticeKind::Denied if !self.name.is_empty() => Some(format!("tenterhook allow {}", self.name)),
            NoticeKind::Denied | NoticeKind::Test => None,
        }
    }

    /// The lines below the title.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.call_line()];
        lines.extend(self.rule.as_ref().map(|rule| format!("rule {rule}")));
        lines.extend(self.seconds_left.map(|seconds| format!("{seconds} s left")));
        lines.extend(self.answer_line());
        if self.more > 0 {
            lines.push(format!("and {} more", self.more));
        }
        lines
    }
}

/// Replaces secrets, and makes one line of the text. Agents choose most of these texts.
fn clean(text: &str, max_chars: usize) -> String {
    let text = sanitize(text, max_chars);
    let visible = text.chars().map(|letter| if is_invisible(letter) { ' ' } else { letter });
    visible.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a character could change how the rest of the text is shown.
fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_one_line_per_fact_and_has_no_secrets() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let mut notice = Notice::new(NoticeKind::Approval, "codex", "01KA4T8Q0RZV6M8W3T1C5N7P9D").with_call(
            Some("Bash"),
            &format!("terraform apply\n\u{1b}]0;x\u{7} \u{202e}-var token={token}"),
            Some("ask-terraform"),
        );
        notice.seconds_left = Some(52);
        notice.more = 2;
        let lines = notice.lines();
        assert!(!lines.concat().contains("a1B2"), "{lines:?}");
        assert!(!lines.concat().contains(['\n', '\u{1b}', '\u{7}', '\u{202e}']), "{lines:?}");
        assert_eq!(
            lines.get(1..).unwrap(),
            ["rule ask-terraform", "52 s left", "tenterhook approvals show q8y8q", "and 2 more"]
        );
        let long = Notice::new(NoticeKind::Denied, "codex", "1").with_call(None, &"x".repeat(5000), None);
        assert_eq!(long.summary.chars().count(), MAX_SUMMARY_CHARS + 1);
        assert_eq!(Notice::test().lines(), ["tenterhook · this is a test"]);
    }
}
