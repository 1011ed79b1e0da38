// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the daemon's settings: the sections `daemon`, `telemetry`, `undo`, `notify` and `approvals` of a
//! `tenterhook.yaml`.
//!
//! If a key is invalid, it is reported and its default applies; the other keys are still used. The command line and
//! the environment take precedence over this file.

use std::collections::BTreeMap;

use tenterhook_document::{Misfit, Node, Problem, Value, nearest, parse, read};
use tenterhook_ledger::Durability;
use tenterhook_notify::NotifySettings;
use tenterhook_undo::UndoLimits;

use crate::recorder::DurabilityWord;
use tenterhook_home::{Home, read_file};

/// Settings of the daemon and of its telemetry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceSettings {
    /// The section `daemon`.
    pub daemon: DaemonSettings,
    /// The section `telemetry`.
    pub telemetry: TelemetrySettings,
    /// The section `undo`.
    pub undo: UndoLimits,
    /// The sections `notify` and `approvals`.
    pub notify: NotifySettings,
}

/// Settings of the daemon.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DaemonSettings {
    /// TCP address of the daemon: `ADDRESS:PORT` or `none`.
    pub listen: Option<String>,
    /// Whether a hook starts the daemon if none is running.
    pub autostart: bool,
    /// When a decision counts as recorded.
    pub durability: Option<Durability>,
}

/// Where the daemon sends telemetry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// URL of an OpenTelemetry collector that accepts OTLP over HTTP.
    pub otlp: Option<String>,
    /// Headers of requests to the collector, such as an API key.
    pub headers: BTreeMap<String, String>,
}

/// Reads the value of one key of a section.
type KeyReader = fn(&mut ServiceSettings, &str, &Node) -> Result<(), Misfit>;

/// The sections, the keys of each section, and the function that reads them.
const SECTIONS: &[(&str, &[&str], KeyReader)] = &[
    ("daemon", &["listen", "autostart", "durability"], ServiceSettings::read_daemon_key),
    ("telemetry", &["otlp", "headers"], ServiceSettings::read_telemetry_key),
    ("undo", UNDO_KEYS, ServiceSettings::read_undo_key),
];

/// The keys of the section `undo`.
const UNDO_KEYS: &[&str] = &["max_mb", "max_files", "keep_days", "max_total_mb"];

/// The keys of the section `undo`, with the smallest and the largest value of each. The smallest values keep an edited
/// file from removing snapshots that were just taken.
const UNDO_RANGES: &[(&str, u64, u64)] = &[
    ("max_mb", 1, 1_000_000),
    ("max_files", 1, 1_000_000),
    ("keep_days", 1, 365),
    ("max_total_mb", 100, 10_000_000),
];

impl ServiceSettings {
    /// Reads the settings of a home. Also returns the entries that cannot be used.
    pub fn of(home: &Home) -> (Self, Vec<Problem>) {
        // An unreadable file is reported when its hooks are read.
        match read_file::regular_file(&home.settings()) {
            Ok(Some(text)) => Self::read(&home.settings().display().to_string(), &text),
            _ => (Self::default(), Vec::new()),
        }
    }

    /// Reads the sections from the text of a settings file.
    pub fn read(name: &str, text: &str) -> (Self, Vec<Problem>) {
        let (mut settings, mut problems) = (Self::default(), Vec::new());
        let Ok(document) = parse(text) else { return (settings, problems) };
        for (section, known, read_key) in SECTIONS {
            let Some(node) = document.get(section) else { continue };
            let entries = match &node.value {
                Value::Map(entries) => entries.as_slice(),
                Value::Null => &[],
                _ => {
                    let message = format!("`{section}` must be a map; its keys are {}", known.join(", "));
                    problems.push(Problem::new(name, node.spot, message));
                    continue;
                }
            };
            for (at, (key, value)) in entries.iter().enumerate() {
                let word = key.text().unwrap_or("?");
                let is_repeated = entries.iter().take(at).any(|(other, _)| other.text() == Some(word));
                let result = if !known.contains(&word) {
                    Err(Misfit { spot: key.spot, message: unknown_key(word, known) })
                } else if is_repeated {
                    let message = format!("`{word}` is set twice");
                    Err(Misfit { spot: key.spot, message })
                } else {
                    read_key(&mut settings, word, value)
                };
                if let Err(Misfit { spot, message }) = result {
                    problems.push(Problem::new(name, spot, message).about(section, Some(word)));
                }
            }
        }
        let (notify, more) = NotifySettings::read(name, text);
        settings.notify = notify;
        problems.extend(more);
        (settings, problems)
    }

    fn read_daemon_key(&mut self, key: &str, value: &Node) -> Result<(), Misfit> {
        match key {
            "listen" => {
                let listen: String = read(value)?;
                if listen != "none"
                    && !listen.rsplit_once(':').is_some_and(|(_, port)| parses_as::<u16>(port))
                {
                    let message = format!("invalid address `{listen}`: use `127.0.0.1:7878` or `none`");
                    return Err(Misfit { spot: value.spot, message });
                }
                self.daemon.listen = Some(listen);
            }
            "autostart" => self.daemon.autostart = read(value)?,
            _ => self.daemon.durability = Some(read::<DurabilityWord>(value)?.into()),
        }
        Ok(())
    }

    fn read_undo_key(&mut self, key: &str, value: &Node) -> Result<(), Misfit> {
        let number: u64 = read(value)?;
        for (_, least, most) in UNDO_RANGES.iter().filter(|(name, ..)| *name == key) {
            if !(*least..=*most).contains(&number) {
                let message = format!("`{key}` must be from {least} to {most}");
                return Err(Misfit { spot: value.spot, message });
            }
        }
        match key {
            "max_mb" => self.undo.set_max_mib(number),
            "max_files" => self.undo.max_files = usize::try_from(number).unwrap_or(usize::MAX),
            "keep_days" => self.undo.set_keep_days(number),
            _ => self.undo.set_max_total_mib(number),
        }
        Ok(())
    }

    fn read_telemetry_key(&mut self, key: &str, value: &Node) -> Result<(), Misfit> {
        if key == "headers" {
            self.telemetry.headers = read(value)?;
            return Ok(());
        }
        let url: String = read(value)?;
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let message = format!("invalid collector URL `{url}`: use `http://127.0.0.1:4318`");
            return Err(Misfit { spot: value.spot, message });
        }
        self.telemetry.otlp = Some(url);
        Ok(())
    }
}

fn parses_as<T: std::str::FromStr>(text: &str) -> bool {
    text.parse::<T>().is_ok()
}

fn unknown_key(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("unknown key `{word}`; did you mean `{near}`?"),
        None => format!("unknown key `{word}`; known: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_read() {
        let text = "hooks: []\ndaemon:\n  listen: 127.0.0.1:9000\n  autostart: true\n  durability: relaxed\n\
                    telemetry:\n  otlp: http://127.0.0.1:4318\n  headers: {x-key: abc}\n";
        let (settings, problems) = ServiceSettings::read("t.yaml", text);
        assert_eq!(problems, []);
        let daemon = DaemonSettings {
            listen: Some("127.0.0.1:9000".into()),
            autostart: true,
            durability: Some(Durability::Relaxed),
        };
        let headers = BTreeMap::from([("x-key".to_owned(), "abc".to_owned())]);
        let telemetry = TelemetrySettings { otlp: Some("http://127.0.0.1:4318".into()), headers };
        let notify = NotifySettings::default();
        let undo = UndoLimits::default();
        assert_eq!(settings, ServiceSettings { daemon, telemetry, undo, notify });
        assert_eq!(
            ServiceSettings::read("t.yaml", "daemon:\nhooks: []\n"),
            (ServiceSettings::default(), Vec::new())
        );
    }

    #[test]
    fn limits_of_snapshots_are_read() {
        let text = "undo: {max_mb: 64, max_files: 10, keep_days: 2, max_total_mb: 100}\n";
        let (settings, problems) = ServiceSettings::read("t.yaml", text);
        assert_eq!(problems, []);
        let limits = settings.undo;
        assert_eq!((limits.max_bytes, limits.max_copy_bytes), (64 << 20, 64 << 20));
        assert_eq!((limits.max_files, limits.max_total_bytes), (10, 100 << 20));
        assert_eq!(limits.max_age, std::time::Duration::from_hours(48));
    }

    #[test]
    fn an_invalid_setting_is_reported_with_its_position_and_the_default_applies() {
        for (text, message) in [
            ("daemon: 7\n", "t.yaml:1:9: `daemon` must be a map; its keys are listen, autostart, durability"),
            (
                "daemon:\n  lisen: none\n",
                "t.yaml:2:3: daemon `lisen`: unknown key `lisen`; did you mean `listen`?",
            ),
            (
                "daemon: {listen: here}\n",
                "t.yaml:1:18: daemon `listen`: invalid address `here`: use `127.0.0.1:7878` or `none`",
            ),
            (
                "daemon: {autostart: perhaps}\n",
                "t.yaml:1:21: daemon `autostart`: invalid type: string \"perhaps\", expected a boolean",
            ),
            (
                "daemon: {durability: relaxt}\n",
                "t.yaml:1:22: daemon `durability`: unknown value `relaxt`; did you mean `relaxed`?",
            ),
            ("undo: {keep_days: 0}\n", "t.yaml:1:19: undo `keep_days`: `keep_days` must be from 1 to 365"),
            (
                "undo: {max_gb: 1}\n",
                "t.yaml:1:8: undo `max_gb`: unknown key `max_gb`; did you mean `max_mb`?",
            ),
            (
                "telemetry: {otlp: 'collector:4318'}\n",
                "t.yaml:1:19: telemetry `otlp`: invalid collector URL `collector:4318`: use `http://127.0.0.1:4318`",
            ),
        ] {
            let (settings, problems) = ServiceSettings::read("t.yaml", text);
            assert_eq!(settings, ServiceSettings::default());
            assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), [message]);
        }
    }
}
