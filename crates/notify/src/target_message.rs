// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats a notice for each kind of target.

use serde_json::json;

use crate::{Notice, NoticeKind};

/// An HTTP request, without its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PostContent {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// The JSON document for a webhook.
pub(crate) fn webhook_content(notice: &Notice) -> PostContent {
    let body = json!({
        "version": 1,
        "kind": notice.kind,
        "title": notice.title(),
        "harness": notice.harness,
        "tool": notice.tool,
        "summary": notice.summary,
        "rule": notice.rule,
        "seconds_left": notice.seconds_left,
        "id": notice.id,
        "name": notice.name,
        "answer": notice.answer_line(),
        "more": notice.more,
    });
    PostContent { headers: Vec::new(), body: body.to_string() }
}

/// The message for an incoming webhook of Slack. The text of a call must not be read as formatting or as a mention
/// (`<!here>`), so it is plain text, and escaped where Slack shows only `text`.
pub(crate) fn slack_content(notice: &Notice) -> PostContent {
    let text = format!("{}\n{}", notice.title(), notice.lines().join("\n"));
    let block = json!({"type": "section", "text": {"type": "plain_text", "emoji": false, "text": text}});
    let body = json!({"text": escape_markup(&text), "mrkdwn": false, "blocks": [block]});
    PostContent { headers: Vec::new(), body: body.to_string() }
}

/// The message for a topic of ntfy: text with the title and the priority as headers.
pub(crate) fn ntfy_content(notice: &Notice) -> PostContent {
    let (priority, tag) = match notice.kind {
        NoticeKind::Approval | NoticeKind::Asked => ("high", "hourglass_flowing_sand"),
        NoticeKind::Denied => ("default", "no_entry"),
        NoticeKind::Test => ("default", "white_check_mark"),
    };
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers = vec![
        header("content-type", "text/plain; charset=utf-8"),
        header("title", notice.title()),
        header("priority", priority),
        header("tags", tag),
    ];
    PostContent { headers, body: notice.lines().join("\n") }
}

/// Arguments of `notify-send`. Its body may contain markup, so the text is escaped.
pub(crate) fn notify_send_args(notice: &Notice) -> Vec<String> {
    let body = escape_markup(&notice.lines().join("\n"));
    let urgency = if notice.kind == NoticeKind::Approval { "critical" } else { "normal" };
    let milliseconds = notice.seconds_left.unwrap_or(10).min(600) * 1000;
    vec![
        "--app-name=Tenterhook".to_owned(),
        format!("--urgency={urgency}"),
        format!("--expire-time={milliseconds}"),
        "--".to_owned(),
        notice.title().to_owned(),
        body,
    ]
}

/// Arguments of `osascript`. The text is passed as arguments of the script, not as part of it.
pub(crate) fn osascript_args(notice: &Notice) -> Vec<String> {
    let script = [
        "-e",
        "on run argv",
        "-e",
        "display notification (item 2 of argv) with title (item 1 of argv)",
        "-e",
        "end run",
    ];
    let mut args: Vec<_> = script.into_iter().map(ToOwned::to_owned).collect();
    args.extend([notice.title().to_owned(), notice.lines().join("\n")]);
    args
}

fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn notice() -> Notice {
        let mut notice = Notice::new(NoticeKind::Approval, "codex", "01KA4T8Q0RZV6M8W3T1C5N7P9D").with_call(
            Some("Bash"),
            "-x $(id) <!here> *bold* `x` && \"quoted\"",
            Some("ask-x"),
        );
        notice.seconds_left = Some(50);
        notice
    }

    #[test]
    fn slack_cannot_be_made_to_mention_or_format() {
        let body: Value = serde_json::from_str(&slack_content(&notice()).body).unwrap();
        assert!(!body["text"].as_str().unwrap().contains("<!here>"), "{body}");
        assert_eq!(body["blocks"][0]["text"]["type"], "plain_text");
    }

    #[test]
    fn programs_receive_the_text_as_arguments() {
        let args = notify_send_args(&notice());
        assert_eq!(args.iter().position(|arg| arg == "--"), Some(3));
        assert!(args[5].contains("&lt;!here&gt;") && args[5].contains("$(id)"), "{args:?}");
        let args = osascript_args(&notice());
        assert_eq!(args.len(), 8);
        assert!(!args[..6].concat().contains("here"), "{args:?}");
    }

    #[test]
    fn a_webhook_gets_only_the_documented_fields() {
        let body: Value = serde_json::from_str(&webhook_content(&notice()).body).unwrap();
        let keys: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "answer",
                "harness",
                "id",
                "kind",
                "more",
                "name",
                "rule",
                "seconds_left",
                "summary",
                "title",
                "tool",
                "version"
            ]
        );
        assert_eq!((&body["kind"], &body["seconds_left"]), (&json!("approval"), &json!(50)));
    }
}
