// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the sections `notify` and `approvals` of a `tenterhook.yaml`. An invalid entry is reported with its position
//! and is not used; the other entries are.

use std::time::Duration;

use serde::Deserialize;
use tenterhook_document::{Misfit, Node, Problem, Value, nearest, parse, read};

use crate::NoticeKind;

/// Maximum number of targets. Each has a thread.
const MAX_TARGETS: usize = 8;
/// Shortest time between two notifications of a target, if the settings name none.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(5);
/// Keys that select the kind of a target.
const KIND_KEYS: &[&str] = &["desktop", "bell", "webhook", "slack", "ntfy"];
const TARGET_KEYS: &[&str] = &["desktop", "bell", "webhook", "slack", "ntfy", "on", "interval"];

/// How users are notified, and what happens to asks that no prompt can show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotifySettings {
    /// The section `notify`; empty by default.
    pub targets: Vec<NotifyTarget>,
    /// The key `headless` of the section `approvals`.
    pub headless: HeadlessAsk,
}

/// One entry of `notify`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyTarget {
    /// How the notification is delivered.
    pub kind: TargetKind,
    /// What the user wants to be notified about.
    pub on: Vec<NoticeKind>,
    /// Shortest time between two notifications. Notices in between are merged into the next.
    pub interval: Duration,
}

/// How a notification is delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetKind {
    /// A notification of the desktop.
    Desktop,
    /// The bell of the terminal in which the harness runs.
    Bell,
    /// A JSON document, posted to a URL.
    Webhook(String),
    /// A message to an incoming webhook of Slack.
    Slack(String),
    /// A message to a topic of an ntfy server.
    Ntfy(String),
}

/// What happens to a call that a rule asks about, if the harness runs without a user at its prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeadlessAsk {
    /// The call is denied, and the reason says that a user must approve it.
    #[default]
    Deny,
    /// The call waits for an approval in Tenterhook.
    Wait,
}

impl NotifyTarget {
    /// Name of the target for users: its kind, and the host of its URL. The rest of a URL may be a secret.
    pub fn name(&self) -> String {
        let (kind, url) = match &self.kind {
            TargetKind::Desktop => return "desktop".to_owned(),
            TargetKind::Bell => return "bell".to_owned(),
            TargetKind::Webhook(url) => ("webhook", url),
            TargetKind::Slack(url) => ("slack", url),
            TargetKind::Ntfy(url) => ("ntfy", url),
        };
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        format!("{kind} {host}")
    }
}

impl NotifySettings {
    /// Reads both sections from the text of a settings file. Also returns the entries that cannot be used.
    pub fn read(name: &str, text: &str) -> (Self, Vec<Problem>) {
        let (mut settings, mut problems) = (Self::default(), Vec::new());
        // Invalid YAML is reported when the hooks of the file are read.
        let Ok(document) = parse(text) else { return (settings, problems) };
        let mut report = |Misfit { spot, message }: Misfit| problems.push(Problem::new(name, spot, message));
        match document.get("notify").map(|node| (node, &node.value)) {
            None | Some((_, Value::Null)) => {}
            Some((_, Value::List(items))) => {
                for (at, item) in items.iter().enumerate() {
                    match read_target(item) {
                        Ok(_) if at >= MAX_TARGETS => {
                            let message = format!("more than {MAX_TARGETS} targets");
                            report(Misfit { spot: item.spot, message });
                        }
                        Ok(target) => settings.targets.push(target),
                        Err(misfit) => report(misfit),
                    }
                }
            }
            Some((node, _)) => {
                let message = "`notify` must be a list of targets, such as `[desktop]`".to_owned();
                report(Misfit { spot: node.spot, message });
            }
        }
        match document.get("approvals").map(|node| (node, &node.value)) {
            None | Some((_, Value::Null)) => {}
            Some((_, Value::Map(entries))) => {
                for (key, value) in entries {
                    let result = match key.text() {
                        Some("headless") => read(value).map(|headless| settings.headless = headless),
                        other => Err(unknown_key(key, other, &["headless"])),
                    };
                    if let Err(misfit) = result {
                        report(misfit);
                    }
                }
            }
            Some((node, _)) => {
                let message = "`approvals` must be a map; its keys are headless".to_owned();
                report(Misfit { spot: node.spot, message });
            }
        }
        (settings, problems)
    }
}

/// Appends targets to the text of a settings file that has no section `notify`. Returns the new text, or why the
/// section cannot be appended.
pub fn append_targets(
    name: &str,
    before: &str,
    targets: &[TargetKind],
) -> Result<String, AppendTargetsError> {
    if parse(before).is_ok_and(|document| document.get("notify").is_some()) {
        return Err(AppendTargetsError::Present { name: name.to_owned() });
    }
    let lines: String = targets.iter().map(target_line).collect();
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let after = format!("{before}{gap}notify:\n{lines}");
    let (old, old_problems) = NotifySettings::read(name, before);
    let (new, problems) = NotifySettings::read(name, &after);
    let has_targets = new.targets.iter().map(|target| &target.kind).eq(targets);
    let is_intact = parse(&after).is_ok() && new.headless == old.headless;
    if !has_targets || !is_intact || problems.len() > old_problems.len() {
        return Err(AppendTargetsError::NotAMap { name: name.to_owned() });
    }
    Ok(after)
}

/// One entry of the section, as YAML. JSON strings are valid YAML.
fn target_line(kind: &TargetKind) -> String {
    let (word, url) = match kind {
        TargetKind::Desktop => return "  - desktop\n".to_owned(),
        TargetKind::Bell => return "  - bell\n".to_owned(),
        TargetKind::Webhook(url) => ("webhook", url),
        TargetKind::Slack(url) => ("slack", url),
        TargetKind::Ntfy(url) => ("ntfy", url),
    };
    format!("  - {word}: {}\n", serde_json::Value::from(url.as_str()))
}

/// Reason why targets cannot be appended to a settings file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendTargetsError {
    /// The file has a section `notify`.
    #[error("`{name}` already has a section `notify`")]
    Present {
        /// Name of the file.
        name: String,
    },
    /// The file is not a map in block style, or an address is invalid.
    #[error("cannot append `notify` to `{name}`: the file is not a block map, or an address is invalid")]
    NotAMap {
        /// Name of the file.
        name: String,
    },
}

/// Reads one entry: the name of a target, or a map.
fn read_target(item: &Node) -> Result<NotifyTarget, Misfit> {
    let Value::Map(entries) = &item.value else {
        let kind = match item.text() {
            Some("desktop") => TargetKind::Desktop,
            Some("bell") => TargetKind::Bell,
            _ => {
                let message =
                    "a target is `desktop`, `bell`, or a map with `webhook`, `slack` or `ntfy`".to_owned();
                return Err(Misfit { spot: item.spot, message });
            }
        };
        return Ok(NotifyTarget { kind, on: vec![NoticeKind::Approval], interval: DEFAULT_INTERVAL });
    };
    let (mut kind, mut on, mut interval) = (None, vec![NoticeKind::Approval], DEFAULT_INTERVAL);
    for (at, (key, value)) in entries.iter().enumerate() {
        let word = key.text();
        if entries.iter().take(at).any(|(other, _)| other.text() == word) {
            let message = format!("`{}` is set twice", word.unwrap_or("?"));
            return Err(Misfit { spot: key.spot, message });
        }
        match word {
            Some(word) if KIND_KEYS.contains(&word) => {
                if kind.is_some() {
                    let message = "a target has one of desktop, bell, webhook, slack, ntfy".to_owned();
                    return Err(Misfit { spot: key.spot, message });
                }
                kind = Some(read_kind(word, value)?);
            }
            Some("on") => on = read_kinds(value)?,
            Some("interval") => interval = read_interval(value)?,
            other => return Err(unknown_key(key, other, TARGET_KEYS)),
        }
    }
    let message = || "a target needs one of desktop, bell, webhook, slack, ntfy".to_owned();
    let kind = kind.ok_or_else(|| Misfit { spot: item.spot, message: message() })?;
    Ok(NotifyTarget { kind, on, interval })
}

fn read_kind(word: &str, value: &Node) -> Result<TargetKind, Misfit> {
    if matches!(word, "desktop" | "bell") {
        // Written as `- desktop:` or `- desktop: true`, so that `on` and `interval` can follow.
        let is_on = matches!(value.value, Value::Null) || read::<bool>(value)?;
        if !is_on {
            let message = format!("remove the entry to turn `{word}` off");
            return Err(Misfit { spot: value.spot, message });
        }
        return Ok(if word == "desktop" { TargetKind::Desktop } else { TargetKind::Bell });
    }
    let url: String = read(value)?;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    // The URL is not repeated in the message, because it may contain a token.
    let misfit = |message: &str| Misfit { spot: value.spot, message: message.to_owned() };
    let rest = rest.filter(|rest| !rest.is_empty() && !rest.starts_with('/'));
    let rest = rest.ok_or_else(|| misfit("the address must start with `https://` or `http://`"))?;
    if url.contains(char::is_whitespace) || url.contains(char::is_control) {
        return Err(misfit("the address contains a space or a control character"));
    }
    Ok(match word {
        "webhook" => TargetKind::Webhook(url),
        "slack" => TargetKind::Slack(url),
        _ if rest.split_once('/').is_none_or(|(_, topic)| topic.trim_matches('/').is_empty()) => {
            return Err(misfit("the address of ntfy ends with a topic: `https://ntfy.sh/TOPIC`"));
        }
        _ => TargetKind::Ntfy(url),
    })
}

fn read_kinds(value: &Node) -> Result<Vec<NoticeKind>, Misfit> {
    let mut on: Vec<NoticeKind> = match &value.value {
        Value::List(_) => read(value)?,
        _ => vec![read(value)?],
    };
    on.sort_unstable();
    on.dedup();
    if on.is_empty() {
        let message = "`on` is empty; known: approval, asked, denied".to_owned();
        return Err(Misfit { spot: value.spot, message });
    }
    Ok(on)
}

fn read_interval(value: &Node) -> Result<Duration, Misfit> {
    let text: String = read(value)?;
    let unit = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(unit).unwrap_or_default();
    let seconds = match (number.parse::<u64>(), unit) {
        (Ok(number), "s") => Some(number),
        (Ok(number), "m") => number.checked_mul(60),
        _ => None,
    };
    let message = || format!("invalid interval `{text}`; write `0s`, `30s` or `5m`, at most `60m`");
    let seconds = seconds.filter(|seconds| *seconds <= 3600);
    seconds.map(Duration::from_secs).ok_or_else(|| Misfit { spot: value.spot, message: message() })
}

fn unknown_key(key: &Node, word: Option<&str>, known: &[&str]) -> Misfit {
    let word = word.unwrap_or("?");
    let message = match nearest(word, known.iter().copied()) {
        Some(near) => format!("unknown key `{word}`; did you mean `{near}`?"),
        None => format!("unknown key `{word}`; known: {}", known.join(", ")),
    };
    Misfit { spot: key.spot, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_target_is_read() {
        let text = "notify:\n  - desktop\n  - bell:\n    on: [approval, asked]\n  - webhook: https://example.com/hook\n    \
                    on: [denied, approval, denied]\n    interval: 1m\n  - slack: https://hooks.example.com/services/T/B/x\n  \
                    - ntfy: https://ntfy.example.com/topic\n    on: denied\napprovals: {headless: wait}\n";
        let (settings, problems) = NotifySettings::read("t.yaml", text);
        assert_eq!(problems, []);
        assert_eq!(settings.headless, HeadlessAsk::Wait);
        let names: Vec<_> = settings.targets.iter().map(NotifyTarget::name).collect();
        assert_eq!(
            names,
            ["desktop", "bell", "webhook example.com", "slack hooks.example.com", "ntfy ntfy.example.com"]
        );
        assert_eq!(settings.targets[1].on, [NoticeKind::Approval, NoticeKind::Asked]);
        assert_eq!(settings.targets[2].on, [NoticeKind::Approval, NoticeKind::Denied]);
        assert_eq!(settings.targets[2].interval, Duration::from_mins(1));
        assert_eq!(settings.targets[4].on, [NoticeKind::Denied]);
        assert_eq!(NotifySettings::read("t.yaml", "notify:\napprovals:\n").0, NotifySettings::default());
        let secret =
            NotifySettings::read("t.yaml", "notify: [{webhook: 'https://u:p@h.example/x?token=1'}]").0;
        assert_eq!(secret.targets[0].name(), "webhook h.example");
    }

    #[test]
    fn an_invalid_entry_is_reported_with_its_position_and_the_others_are_used() {
        for (text, message) in [
            ("notify: desktop\n", "t.yaml:1:9: `notify` must be a list of targets, such as `[desktop]`"),
            (
                "notify: [pager]\n",
                "t.yaml:1:10: a target is `desktop`, `bell`, or a map with `webhook`, `slack` or `ntfy`",
            ),
            (
                "notify:\n  - webhok: https://x.example\n",
                "t.yaml:2:5: unknown key `webhok`; did you mean `webhook`?",
            ),
            (
                "notify:\n  - on: [approval]\n",
                "t.yaml:2:5: a target needs one of desktop, bell, webhook, slack, ntfy",
            ),
            (
                "notify:\n  - slack: hooks.example\n",
                "t.yaml:2:12: the address must start with `https://` or `http://`",
            ),
            (
                "notify:\n  - ntfy: https://ntfy.sh/\n",
                "t.yaml:2:11: the address of ntfy ends with a topic: `https://ntfy.sh/TOPIC`",
            ),
            (
                "notify:\n  - desktop:\n    on: [aproval]\n",
                "t.yaml:3:10: unknown value `aproval`; did you mean `approval`?",
            ),
            (
                "notify:\n  - desktop:\n    interval: 5\n",
                "t.yaml:3:15: invalid interval `5`; write `0s`, `30s` or `5m`, at most `60m`",
            ),
            (
                "notify:\n  - desktop:\n    bell:\n",
                "t.yaml:3:5: a target has one of desktop, bell, webhook, slack, ntfy",
            ),
            ("approvals: {headles: wait}\n", "t.yaml:1:13: unknown key `headles`; did you mean `headless`?"),
            ("approvals: {headless: wate}\n", "t.yaml:1:23: unknown value `wate`; did you mean `wait`?"),
        ] {
            let (settings, problems) = NotifySettings::read("t.yaml", text);
            assert_eq!(settings, NotifySettings::default());
            assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), [message]);
        }
        let (settings, problems) = NotifySettings::read("t.yaml", "notify: [pager, bell]\n");
        assert_eq!((settings.targets.len(), problems.len()), (1, 1));
    }

    #[test]
    fn targets_are_appended_and_the_rest_stays_to_the_byte() {
        let ntfy = TargetKind::Ntfy("https://ntfy.sh/topic".to_owned());
        let targets = [TargetKind::Desktop, ntfy];
        for before in ["", "# mine\ndaemon:\n  autostart: true   # keep", "approvals: {headless: wait}\n"] {
            let after = append_targets("t.yaml", before, &targets).unwrap();
            assert!(after.starts_with(before), "{after}");
            assert!(
                after.ends_with("notify:\n  - desktop\n  - ntfy: \"https://ntfy.sh/topic\"\n"),
                "{after}"
            );
        }
        let present = append_targets("t.yaml", "notify: [bell]\n", &targets).unwrap_err();
        assert_eq!(present.to_string(), "`t.yaml` already has a section `notify`");
        for before in ["{daemon: {autostart: true}}\n", "- a list\n"] {
            assert!(append_targets("t.yaml", before, &targets).is_err(), "{before}");
        }
        let bad = TargetKind::Webhook("example.com".to_owned());
        assert!(append_targets("t.yaml", "", &[bad]).is_err());
    }
}
