// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How the ledger is kept: the part `ledger` of a `tenterhook.yaml`.
//!
//! A key that cannot be used is refused alone and the usual stands in its place, which is the careful
//! choice for each of them.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tenterhook_document::{Misfit, Node, Problem, Value, parse, read};
use tenterhook_ledger::{Durability, VerifierKey};

use tenterhook_home::{Home, read_file};

/// The largest payload that can be kept, in bytes.
pub(super) const MOST: usize = 16 << 20;
const KNOWN: &[&str] =
    &["durability", "max_payload", "keep_raw", "keep_model_text", "sinks", "key", "retention"];

/// How a person wants their ledger kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// When a decision counts as recorded.
    pub durability: Durability,
    /// Larger payloads are recorded by their hash only, in bytes.
    pub max_payload: usize,
    /// Secrets are kept as they are.
    pub keep_raw: bool,
    /// Requests to models and their answers are kept, instead of hashes and counts.
    pub keep_model_text: bool,
    /// Where checkpoints go.
    pub sinks: Vec<Destination>,
    /// The key has to be sealed.
    pub sealed: bool,
    /// A file with the passphrase of a sealed key, for whoever has nobody to ask.
    pub passphrase_file: Option<PathBuf>,
}

/// Where checkpoints go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A file elsewhere.
    File(PathBuf),
    /// The system's journal.
    Journal,
    /// A server that is told.
    Webhook(String),
    /// A witness, and its key.
    Witness(String, Box<VerifierKey>),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Durable {
    Durable,
    Relaxed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sink {
    file: Option<PathBuf>,
    journal: Option<bool>,
    webhook: Option<String>,
    witness: Option<String>,
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    #[serde(default)]
    sealed: bool,
    passphrase_file: Option<PathBuf>,
}

// === impl Settings ===

impl Default for Settings {
    fn default() -> Self {
        Self {
            durability: Durability::Durable,
            max_payload: 1 << 20,
            keep_raw: false,
            keep_model_text: false,
            sinks: Vec::new(),
            sealed: false,
            passphrase_file: None,
        }
    }
}

impl Settings {
    /// The settings of a home, and what in them cannot be used.
    pub(crate) fn of(home: &Home) -> (Self, Vec<Problem>) {
        // A file that cannot be read at all is said by whoever reads its hooks.
        let text = read_file::regular_file(&home.settings()).ok().flatten().unwrap_or_default();
        Self::read(&home.settings().display().to_string(), &text)
    }

    /// Reads the part `ledger`; what else is in the file is somebody else's.
    pub(crate) fn read(name: &str, text: &str) -> (Self, Vec<Problem>) {
        let (mut settings, mut problems) = (Self::default(), Vec::new());
        // So is whether it is YAML.
        let Ok(document) = parse(text) else { return (settings, problems) };
        let entries: &[(Node, Node)] = match document.get("ledger").map(|node| (node.spot, &node.value)) {
            None | Some((_, Value::Null)) => &[],
            Some((_, Value::Map(entries))) => entries,
            Some((spot, _)) => {
                let message = format!("`ledger` must be a map; its keys are {}", KNOWN.join(", "));
                problems.push(Problem::new(name, spot, message));
                &[]
            }
        };
        for (at, (key, value)) in entries.iter().enumerate() {
            let earlier = entries.iter().take(at).any(|(other, _)| other.text() == key.text());
            let set = if earlier {
                let message = format!("`{}` stands here a second time", key.text().unwrap_or("?"));
                Err(Misfit { spot: key.spot, message })
            } else {
                settings.set(key, value)
            };
            if let Err(Misfit { spot, message }) = set {
                let problem = Problem::new(name, spot, message).about("ledger setting", key.text());
                problems.push(problem.hint("the ledger is kept as usual in that"));
            }
        }
        (settings, problems)
    }

    fn set(&mut self, key: &Node, value: &Node) -> Result<(), Misfit> {
        let refuse = |message: String| Err(Misfit { spot: value.spot, message });
        match key.text().unwrap_or_default() {
            "durability" => {
                self.durability = match read(value)? {
                    Durable::Durable => Durability::Durable,
                    Durable::Relaxed => Durability::Relaxed,
                }
            }
            "max_payload" => {
                let most: usize = read(value)?;
                if most > MOST {
                    return refuse(format!("{most} bytes are more than the {MOST} that can be kept"));
                }
                self.max_payload = most;
            }
            "keep_raw" => self.keep_raw = read(value)?,
            "keep_model_text" => self.keep_model_text = read(value)?,
            "sinks" => {
                let Value::List(sinks) = &value.value else {
                    return refuse("`sinks` is a list: `[{file: …}, {journal: true}]`".into());
                };
                // All or none: one that is left out would be missed when it is needed.
                self.sinks = sinks.iter().map(destination).collect::<Result<Vec<_>, _>>()?.concat();
            }
            "key" => {
                let key: Key = read(value)?;
                if key.passphrase_file.as_ref().is_some_and(|path| path.is_relative()) {
                    return refuse("`passphrase_file` must be an absolute path".into());
                }
                (self.sealed, self.passphrase_file) = (key.sealed, key.passphrase_file);
            }
            // [`Retention`](crate::Retention) reads it, and reports what cannot be used.
            "retention" => {}
            other => {
                let near = tenterhook_document::nearest(other, KNOWN.iter().copied());
                let hint = near.map_or_else(
                    || format!("known: {}", KNOWN.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                return Err(Misfit { spot: key.spot, message: format!("no such key: `{other}`; {hint}") });
            }
        }
        Ok(())
    }

    /// What the leaf about how the ledger is kept says beside the rest. Addresses may hold a secret,
    /// so only their host is in it.
    pub(super) fn detail(&self) -> Json {
        if self.sinks.is_empty() && !self.sealed {
            return Json::Null;
        }
        json!({"sinks": self.sinks.iter().map(Destination::brief).collect::<Vec<_>>(), "sealed": self.sealed})
    }
}

/// One entry of `sinks`; nothing for `journal: false`.
fn destination(node: &Node) -> Result<Vec<Destination>, Misfit> {
    let refuse = |message: String| Misfit { spot: node.spot, message };
    let web = |url: String| {
        let known = url.starts_with("https://") || url.starts_with("http://");
        if known { Ok(url) } else { Err(refuse(format!("`{url}` is no address: it begins with https://"))) }
    };
    Ok(match read::<Sink>(node)? {
        Sink { file: Some(path), journal: None, webhook: None, witness: None, key: None } => {
            if path.is_relative() {
                return Err(refuse(format!("`{}` must be an absolute path", path.display())));
            }
            vec![Destination::File(path)]
        }
        Sink { file: None, journal: Some(on), webhook: None, witness: None, key: None } => {
            if on {
                vec![Destination::Journal]
            } else {
                Vec::new()
            }
        }
        Sink { file: None, journal: None, webhook: Some(url), witness: None, key: None } => {
            vec![Destination::Webhook(web(url)?)]
        }
        Sink { file: None, journal: None, webhook: None, witness: Some(url), key: Some(key) } => {
            let key: Result<VerifierKey, _> = key.parse();
            let key = key.map_err(|error| refuse(format!("the witness's key: {error}")))?;
            vec![Destination::Witness(web(url)?, Box::new(key))]
        }
        Sink { witness: Some(_), key: None, .. } => {
            return Err(refuse("a witness needs its `key`: `<name>+<id>+<base 64>`".into()));
        }
        _ => {
            return Err(refuse(
                "a sink is one of `file`, `journal`, `webhook`, and `witness` with its `key`".into(),
            ));
        }
    })
}

// === impl Destination ===

impl Destination {
    /// Whether somebody on the network has to answer.
    pub(super) fn is_far(&self) -> bool {
        matches!(self, Self::Webhook(_) | Self::Witness(..))
    }

    fn brief(&self) -> String {
        match self {
            Self::File(path) => format!("file {}", path.display()),
            Self::Journal => "journal".to_owned(),
            Self::Webhook(url) => format!("webhook {}", host(url)),
            Self::Witness(_, key) => format!("witness {}", key.name()),
        }
    }
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// The passphrase in a file that nobody else may read.
pub fn passphrase(path: &Path) -> Result<String, tenterhook_error::Failure> {
    use std::os::unix::fs::MetadataExt as _;
    let unusable = |why: String| {
        tenterhook_error::Failure::user(format!("the passphrase in `{}`: {why}", path.display()))
    };
    let text = read_file::regular_file(path).map_err(|error| unusable(error.to_string()))?;
    let text = text.ok_or_else(|| unusable("there is no such file".into()))?;
    let mode = std::fs::metadata(path)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(unusable(format!("others can read it (its mode is {mode:o})"))
            .hint(format!("`chmod 600 {}`", path.display())));
    }
    let passphrase = text.trim_end_matches(['\n', '\r']);
    if passphrase.is_empty() {
        return Err(unusable("it is empty".into()));
    }
    Ok(passphrase.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITNESS: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

    fn problems(text: &str) -> Vec<String> {
        let (settings, problems) = Settings::read("t.yaml", text);
        assert_eq!(settings, Settings::default(), "{text}");
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn everything_can_be_said() {
        let text = format!(
            "hooks: []\nledger:\n  durability: relaxed\n  max_payload: 4096\n  keep_raw: true\n  keep_model_text: true\n  sinks:\n    - file: /mnt/elsewhere/checkpoint\n    - journal: true\n    - webhook: https://user:pass@example.com/in?token=x\n    - witness: https://witness.example.com\n      key: {WITNESS}\n  key: {{sealed: true, passphrase_file: /run/p}}\n"
        );
        let (settings, problems) = Settings::read("t.yaml", &text);
        assert_eq!(problems, []);
        assert_eq!(
            settings,
            Settings {
                durability: Durability::Relaxed,
                max_payload: 4096,
                keep_raw: true,
                keep_model_text: true,
                sinks: vec![
                    Destination::File("/mnt/elsewhere/checkpoint".into()),
                    Destination::Journal,
                    Destination::Webhook("https://user:pass@example.com/in?token=x".into()),
                    Destination::Witness(
                        "https://witness.example.com".into(),
                        Box::new(WITNESS.parse().unwrap())
                    ),
                ],
                sealed: true,
                passphrase_file: Some("/run/p".into()),
            }
        );
        let sinks =
            ["file /mnt/elsewhere/checkpoint", "journal", "webhook example.com", "witness example.com/foo"];
        assert_eq!(settings.detail(), json!({"sinks": sinks, "sealed": true}), "no password, no token");
        assert_eq!(Settings::read("t.yaml", "hooks: []\n"), (Settings::default(), Vec::new()));
    }

    #[test]
    fn what_cannot_be_used_is_said_with_its_place_and_the_usual_stands() {
        for (text, said) in [
            (
                "ledger: [1]\n",
                "t.yaml:1:9: `ledger` must be a map; its keys are durability, max_payload, keep_raw, keep_model_text, sinks, key, retention",
            ),
            (
                "ledger:\n  keep_row: true\n",
                "t.yaml:2:3: ledger setting `keep_row`: no such key: `keep_row`; did you mean `keep_raw`?",
            ),
            (
                "ledger:\n  zzz: 1\n",
                "t.yaml:2:3: ledger setting `zzz`: no such key: `zzz`; known: durability, max_payload, keep_raw, keep_model_text, sinks, key, retention",
            ),
            (
                "ledger: {durability: relaxt}\n",
                "t.yaml:1:22: ledger setting `durability`: no such word here: `relaxt`; did you mean `relaxed`?",
            ),
            (
                "ledger: {max_payload: 99999999}\n",
                "t.yaml:1:23: ledger setting `max_payload`: 99999999 bytes are more than the 16777216 that can be kept",
            ),
            (
                "ledger: {sinks: {file: /x}}\n",
                "t.yaml:1:17: ledger setting `sinks`: `sinks` is a list: `[{file: …}, {journal: true}]`",
            ),
            (
                "ledger: {sinks: [{file: x}]}\n",
                "t.yaml:1:18: ledger setting `sinks`: `x` must be an absolute path",
            ),
            (
                "ledger: {sinks: [{webhook: 'ftp://x'}]}\n",
                "t.yaml:1:18: ledger setting `sinks`: `ftp://x` is no address: it begins with https://",
            ),
            (
                "ledger: {sinks: [{witness: 'https://x'}]}\n",
                "t.yaml:1:18: ledger setting `sinks`: a witness needs its `key`: `<name>+<id>+<base 64>`",
            ),
            (
                "ledger: {sinks: [{file: /x, journal: true}]}\n",
                "t.yaml:1:18: ledger setting `sinks`: a sink is one of `file`, `journal`, `webhook`, and `witness` with its `key`",
            ),
            (
                "ledger: {sinks: [{fil: /x}]}\n",
                "t.yaml:1:19: ledger setting `sinks`: no such key here: `fil`; did you mean `file`?",
            ),
            (
                "ledger: {key: {sealed: true, passphrase_file: p}}\n",
                "t.yaml:1:15: ledger setting `key`: `passphrase_file` must be an absolute path",
            ),
            (
                "ledger: {key: {seald: true}}\n",
                "t.yaml:1:16: ledger setting `key`: no such key here: `seald`; did you mean `sealed`?",
            ),
        ] {
            let found = problems(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with(said), "{} is not {said}", found[0]);
        }
        let twice = "ledger:\n  durability: durable\n  durability: relaxed\n";
        assert!(problems(twice)[0].contains("`durability` stands here a second time"));
    }
}
