// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How the daemon is run: the parts `daemon` and `telemetry` of a `tenterhook.yaml`.
//!
//! A key that cannot be used is refused alone and the usual stands in its place. What is said on the
//! command line or in the environment comes before what stands here.

use std::collections::BTreeMap;

use serde::Deserialize;
use tenterhook_document::{Misfit, Node, Problem, Value, nearest, parse, read};
use tenterhook_ledger::Durability;

use tenterhook_home::{Home, read_file};

/// What a person settled about the daemon.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settled {
    /// The part `daemon`.
    pub daemon: DaemonSettings,
    /// The part `telemetry`.
    pub telemetry: Telemetry,
}

/// How the daemon is run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DaemonSettings {
    /// Where it listens over TCP: `ADDRESS:PORT` or `none`.
    pub listen: Option<String>,
    /// Whether a hook that finds no daemon starts one.
    pub autostart: bool,
    /// When a decision counts as recorded.
    pub durability: Option<Durability>,
}

/// Who is told what the daemon does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Telemetry {
    /// Where an OpenTelemetry collector listens for OTLP over HTTP.
    pub otlp: Option<String>,
    /// Headers for it, such as a key.
    pub headers: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Durable,
    Relaxed,
}

/// Takes one key of a part.
type Take = fn(&mut Settled, &str, &Node) -> Result<(), Misfit>;

/// The parts, their keys and how each is read.
const PARTS: &[(&str, &[&str], Take)] = &[
    ("daemon", &["listen", "autostart", "durability"], Settled::take_daemon),
    ("telemetry", &["otlp", "headers"], Settled::take_telemetry),
];

impl Settled {
    /// What is settled in a home, and what of it cannot be used.
    pub fn of(home: &Home) -> (Self, Vec<Problem>) {
        // A file that cannot be read is named by whoever reads the hooks in it.
        match read_file::regular_file(&home.settings()) {
            Ok(Some(text)) => Self::read(&home.settings().display().to_string(), &text),
            _ => (Self::default(), Vec::new()),
        }
    }

    /// Reads the two parts of a text.
    pub fn read(name: &str, text: &str) -> (Self, Vec<Problem>) {
        let (mut settled, mut problems) = (Self::default(), Vec::new());
        let Ok(document) = parse(text) else { return (settled, problems) };
        for (part, known, take) in PARTS {
            let Some(node) = document.get(part) else { continue };
            let entries = match &node.value {
                Value::Map(entries) => entries.as_slice(),
                Value::Null => &[],
                _ => {
                    let message = format!("`{part}` must be a map; its keys are {}", known.join(", "));
                    problems.push(Problem::new(name, node.spot, message));
                    continue;
                }
            };
            for (at, (key, value)) in entries.iter().enumerate() {
                let word = key.text().unwrap_or("?");
                let twice = entries.iter().take(at).any(|(other, _)| other.text() == Some(word));
                let taken = if !known.contains(&word) {
                    Err(Misfit { spot: key.spot, message: unknown(word, known) })
                } else if twice {
                    let message = format!("`{word}` stands here a second time");
                    Err(Misfit { spot: key.spot, message })
                } else {
                    take(&mut settled, word, value)
                };
                if let Err(Misfit { spot, message }) = taken {
                    problems.push(Problem::new(name, spot, message).about(part, Some(word)));
                }
            }
        }
        (settled, problems)
    }

    fn take_daemon(&mut self, key: &str, value: &Node) -> Result<(), Misfit> {
        match key {
            "listen" => {
                let said: String = read(value)?;
                if said != "none" && !said.rsplit_once(':').is_some_and(|(_, port)| is::<u16>(port)) {
                    let message = format!("`{said}` is no address: say `127.0.0.1:7878`, or `none`");
                    return Err(Misfit { spot: value.spot, message });
                }
                self.daemon.listen = Some(said);
            }
            "autostart" => self.daemon.autostart = read(value)?,
            _ => {
                self.daemon.durability = Some(match read(value)? {
                    Word::Durable => Durability::Durable,
                    Word::Relaxed => Durability::Relaxed,
                });
            }
        }
        Ok(())
    }

    fn take_telemetry(&mut self, key: &str, value: &Node) -> Result<(), Misfit> {
        if key == "headers" {
            self.telemetry.headers = read(value)?;
            return Ok(());
        }
        let url: String = read(value)?;
        if !url.starts_with("http://") && !url.starts_with("https://") {
            let message = format!("`{url}` is no address of a collector: say `http://127.0.0.1:4318`");
            return Err(Misfit { spot: value.spot, message });
        }
        self.telemetry.otlp = Some(url);
        Ok(())
    }
}

fn is<T: std::str::FromStr>(text: &str) -> bool {
    text.parse::<T>().is_ok()
}

fn unknown(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("no such key: `{word}`; did you mean `{near}`?"),
        None => format!("no such key: `{word}`; known: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_can_be_said() {
        let text = "hooks: []\ndaemon:\n  listen: 127.0.0.1:9000\n  autostart: true\n  durability: relaxed\n\
                    telemetry:\n  otlp: http://127.0.0.1:4318\n  headers: {x-key: abc}\n";
        let (settled, problems) = Settled::read("t.yaml", text);
        assert_eq!(problems, []);
        let daemon = DaemonSettings {
            listen: Some("127.0.0.1:9000".into()),
            autostart: true,
            durability: Some(Durability::Relaxed),
        };
        let headers = BTreeMap::from([("x-key".to_owned(), "abc".to_owned())]);
        let telemetry = Telemetry { otlp: Some("http://127.0.0.1:4318".into()), headers };
        assert_eq!(settled, Settled { daemon, telemetry });
        assert_eq!(Settled::read("t.yaml", "daemon:\nhooks: []\n"), (Settled::default(), Vec::new()));
    }

    #[test]
    fn what_cannot_be_used_is_said_with_its_place_and_the_usual_stands() {
        for (text, said) in [
            ("daemon: 7\n", "t.yaml:1:9: `daemon` must be a map; its keys are listen, autostart, durability"),
            (
                "daemon:\n  lisen: none\n",
                "t.yaml:2:3: daemon `lisen`: no such key: `lisen`; did you mean `listen`?",
            ),
            (
                "daemon: {listen: here}\n",
                "t.yaml:1:18: daemon `listen`: `here` is no address: say `127.0.0.1:7878`, or `none`",
            ),
            (
                "daemon: {autostart: perhaps}\n",
                "t.yaml:1:21: daemon `autostart`: invalid type: string \"perhaps\", expected a boolean",
            ),
            (
                "daemon: {durability: relaxt}\n",
                "t.yaml:1:22: daemon `durability`: no such word here: `relaxt`; did you mean `relaxed`?",
            ),
            (
                "telemetry: {otlp: 'collector:4318'}\n",
                "t.yaml:1:19: telemetry `otlp`: `collector:4318` is no address of a collector: say `http://127.0.0.1:4318`",
            ),
        ] {
            let (settled, problems) = Settled::read("t.yaml", text);
            assert_eq!(settled, Settled::default());
            assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>(), [said]);
        }
    }
}
