// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the ledger's settings: the section `ledger` of a `tenterhook.yaml`.
//!
//! If a key is invalid, it is reported and its default applies. Every default is the safe choice.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tenterhook_document::{Misfit, Node, Problem, Value, parse, read};
use tenterhook_ledger::{Durability, VerifierKey};

use tenterhook_home::{Home, read_file};

/// Maximum size of a stored payload.
pub(super) const MAX_PAYLOAD_BYTES: usize = 16 << 20;
const LEDGER_KEYS: &[&str] =
    &["durability", "max_payload", "keep_raw", "keep_model_text", "sinks", "key", "retention"];

/// Settings of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerSettings {
    /// When a decision counts as recorded.
    pub durability: Durability,
    /// Maximum size of a stored payload in bytes. Larger payloads are recorded by their hash only.
    pub max_payload: usize,
    /// Whether secrets are stored unredacted.
    pub keep_raw: bool,
    /// Whether model requests and responses are stored; if not, only hashes and counts are.
    pub keep_model_text: bool,
    /// Sinks that receive checkpoints.
    pub sinks: Vec<SinkSetting>,
    /// Whether the signing key must be sealed.
    pub sealed: bool,
    /// File with the passphrase of a sealed key, for processes that cannot ask the user.
    pub passphrase_file: Option<PathBuf>,
}

/// A sink that receives checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SinkSetting {
    /// A file outside the ledger.
    File(PathBuf),
    /// The system journal.
    Journal,
    /// URL that receives a POST request.
    Webhook(String),
    /// URL of a witness, and the witness's key.
    Witness(String, Box<VerifierKey>),
}

/// Value of the key `durability`.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DurabilityWord {
    Durable,
    Relaxed,
}

impl From<DurabilityWord> for Durability {
    fn from(word: DurabilityWord) -> Self {
        match word {
            DurabilityWord::Durable => Self::Durable,
            DurabilityWord::Relaxed => Self::Relaxed,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SinkEntry {
    file: Option<PathBuf>,
    journal: Option<bool>,
    webhook: Option<String>,
    witness: Option<String>,
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyEntry {
    #[serde(default)]
    sealed: bool,
    passphrase_file: Option<PathBuf>,
}

// === impl LedgerSettings ===

impl Default for LedgerSettings {
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

impl LedgerSettings {
    /// Returns the settings of a home. Also returns the entries that cannot be used.
    pub(crate) fn of(home: &Home) -> (Self, Vec<Problem>) {
        // An unreadable file is reported when its hooks are read.
        let text = read_file::regular_file(&home.settings()).ok().flatten().unwrap_or_default();
        Self::read(&home.settings().display().to_string(), &text)
    }

    /// Reads the section `ledger`. Other modules read the rest of the file.
    pub(crate) fn read(name: &str, text: &str) -> (Self, Vec<Problem>) {
        let (mut settings, mut problems) = (Self::default(), Vec::new());
        // Invalid YAML is reported when the hooks are read.
        let Ok(document) = parse(text) else { return (settings, problems) };
        let entries: &[(Node, Node)] = match document.get("ledger").map(|node| (node.spot, &node.value)) {
            None | Some((_, Value::Null)) => &[],
            Some((_, Value::Map(entries))) => entries,
            Some((spot, _)) => {
                let message = format!("`ledger` must be a map; its keys are {}", LEDGER_KEYS.join(", "));
                problems.push(Problem::new(name, spot, message));
                &[]
            }
        };
        for (at, (key, value)) in entries.iter().enumerate() {
            let earlier = entries.iter().take(at).any(|(other, _)| other.text() == key.text());
            let set = if earlier {
                let message = format!("`{}` is set twice", key.text().unwrap_or("?"));
                Err(Misfit { spot: key.spot, message })
            } else {
                settings.set(key, value)
            };
            if let Err(Misfit { spot, message }) = set {
                let problem = Problem::new(name, spot, message).about("ledger setting", key.text());
                problems.push(problem.hint("the default applies"));
            }
        }
        (settings, problems)
    }

    fn set(&mut self, key: &Node, value: &Node) -> Result<(), Misfit> {
        let refuse = |message: String| Err(Misfit { spot: value.spot, message });
        match key.text().unwrap_or_default() {
            "durability" => self.durability = read::<DurabilityWord>(value)?.into(),
            "max_payload" => {
                let most: usize = read(value)?;
                if most > MAX_PAYLOAD_BYTES {
                    return refuse(format!("{most} bytes exceed the maximum of {MAX_PAYLOAD_BYTES}"));
                }
                self.max_payload = most;
            }
            "keep_raw" => self.keep_raw = read(value)?,
            "keep_model_text" => self.keep_model_text = read(value)?,
            "sinks" => {
                let Value::List(sinks) = &value.value else {
                    return refuse("`sinks` is a list: `[{file: …}, {journal: true}]`".into());
                };
                // Either all sinks are used or none: a missing sink would be noticed only when it is needed.
                self.sinks = sinks.iter().map(parse_sink).collect::<Result<Vec<_>, _>>()?.concat();
            }
            "key" => {
                let key: KeyEntry = read(value)?;
                if key.passphrase_file.as_ref().is_some_and(|path| path.is_relative()) {
                    return refuse("`passphrase_file` must be an absolute path".into());
                }
                (self.sealed, self.passphrase_file) = (key.sealed, key.passphrase_file);
            }
            // [`Retention`](crate::Retention) reads this key and reports invalid values.
            "retention" => {}
            other => {
                let near = tenterhook_document::nearest(other, LEDGER_KEYS.iter().copied());
                let hint = near.map_or_else(
                    || format!("known: {}", LEDGER_KEYS.join(", ")),
                    |near| format!("did you mean `{near}`?"),
                );
                return Err(Misfit { spot: key.spot, message: format!("unknown key `{other}`; {hint}") });
            }
        }
        Ok(())
    }

    /// Returns details for the record of the ledger's settings. URLs may contain a secret, so only their hosts are
    /// included.
    pub(super) fn detail(&self) -> Json {
        if self.sinks.is_empty() && !self.sealed {
            return Json::Null;
        }
        json!({"sinks": self.sinks.iter().map(SinkSetting::summary).collect::<Vec<_>>(), "sealed": self.sealed})
    }
}

/// Parses one entry of `sinks`. Returns an empty list for `journal: false`.
fn parse_sink(node: &Node) -> Result<Vec<SinkSetting>, Misfit> {
    let refuse = |message: String| Misfit { spot: node.spot, message };
    let web = |url: String| {
        let known = url.starts_with("https://") || url.starts_with("http://");
        if known { Ok(url) } else { Err(refuse(format!("invalid URL `{url}`: use `https://…`"))) }
    };
    Ok(match read::<SinkEntry>(node)? {
        SinkEntry { file: Some(path), journal: None, webhook: None, witness: None, key: None } => {
            if path.is_relative() {
                return Err(refuse(format!("`{}` must be an absolute path", path.display())));
            }
            vec![SinkSetting::File(path)]
        }
        SinkEntry { file: None, journal: Some(on), webhook: None, witness: None, key: None } => {
            if on {
                vec![SinkSetting::Journal]
            } else {
                Vec::new()
            }
        }
        SinkEntry { file: None, journal: None, webhook: Some(url), witness: None, key: None } => {
            vec![SinkSetting::Webhook(web(url)?)]
        }
        SinkEntry { file: None, journal: None, webhook: None, witness: Some(url), key: Some(key) } => {
            let key: Result<VerifierKey, _> = key.parse();
            let key = key.map_err(|error| refuse(format!("invalid witness key: {error}")))?;
            vec![SinkSetting::Witness(web(url)?, Box::new(key))]
        }
        SinkEntry { witness: Some(_), key: None, .. } => {
            return Err(refuse("a witness needs its `key`: `<name>+<id>+<base 64>`".into()));
        }
        _ => {
            return Err(refuse(
                "a sink is one of `file`, `journal`, `webhook`, and `witness` with its `key`".into(),
            ));
        }
    })
}

// === impl SinkSetting ===

impl SinkSetting {
    /// Returns whether sending needs the network.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self, Self::Webhook(_) | Self::Witness(..))
    }

    fn summary(&self) -> String {
        match self {
            Self::File(path) => format!("file {}", path.display()),
            Self::Journal => "journal".to_owned(),
            Self::Webhook(url) => format!("webhook {}", url_host(url)),
            Self::Witness(_, key) => format!("witness {}", key.name()),
        }
    }
}

fn url_host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

/// Reads the passphrase from a file that other accounts must not be able to read.
pub fn read_passphrase(path: &Path) -> Result<String, tenterhook_error::Failure> {
    use std::os::unix::fs::MetadataExt as _;
    let unusable = |why: String| {
        tenterhook_error::Failure::user(format!("cannot use the passphrase file `{}`: {why}", path.display()))
    };
    let text = read_file::regular_file(path).map_err(|error| unusable(error.to_string()))?;
    let text = text.ok_or_else(|| unusable("no such file".into()))?;
    let mode = std::fs::metadata(path)?.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(unusable(format!("other accounts can read it (mode {mode:o})"))
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
        let (settings, problems) = LedgerSettings::read("t.yaml", text);
        assert_eq!(settings, LedgerSettings::default(), "{text}");
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_setting_is_read() {
        let text = format!(
            "hooks: []\nledger:\n  durability: relaxed\n  max_payload: 4096\n  keep_raw: true\n  keep_model_text: true\n  sinks:\n    - file: /mnt/elsewhere/checkpoint\n    - journal: true\n    - webhook: https://user:pass@example.com/in?token=x\n    - witness: https://witness.example.com\n      key: {WITNESS}\n  key: {{sealed: true, passphrase_file: /run/p}}\n"
        );
        let (settings, problems) = LedgerSettings::read("t.yaml", &text);
        assert_eq!(problems, []);
        assert_eq!(
            settings,
            LedgerSettings {
                durability: Durability::Relaxed,
                max_payload: 4096,
                keep_raw: true,
                keep_model_text: true,
                sinks: vec![
                    SinkSetting::File("/mnt/elsewhere/checkpoint".into()),
                    SinkSetting::Journal,
                    SinkSetting::Webhook("https://user:pass@example.com/in?token=x".into()),
                    SinkSetting::Witness(
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
        assert_eq!(LedgerSettings::read("t.yaml", "hooks: []\n"), (LedgerSettings::default(), Vec::new()));
    }

    #[test]
    fn an_invalid_setting_is_reported_with_its_position_and_the_default_applies() {
        for (text, message) in [
            (
                "ledger: [1]\n",
                "t.yaml:1:9: `ledger` must be a map; its keys are durability, max_payload, keep_raw, keep_model_text, sinks, key, retention",
            ),
            (
                "ledger:\n  keep_row: true\n",
                "t.yaml:2:3: ledger setting `keep_row`: unknown key `keep_row`; did you mean `keep_raw`?",
            ),
            (
                "ledger:\n  zzz: 1\n",
                "t.yaml:2:3: ledger setting `zzz`: unknown key `zzz`; known: durability, max_payload, keep_raw, keep_model_text, sinks, key, retention",
            ),
            (
                "ledger: {durability: relaxt}\n",
                "t.yaml:1:22: ledger setting `durability`: unknown value `relaxt`; did you mean `relaxed`?",
            ),
            (
                "ledger: {max_payload: 99999999}\n",
                "t.yaml:1:23: ledger setting `max_payload`: 99999999 bytes exceed the maximum of 16777216",
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
                "t.yaml:1:18: ledger setting `sinks`: invalid URL `ftp://x`: use `https://…`",
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
                "t.yaml:1:19: ledger setting `sinks`: unknown key `fil`; did you mean `file`?",
            ),
            (
                "ledger: {key: {sealed: true, passphrase_file: p}}\n",
                "t.yaml:1:15: ledger setting `key`: `passphrase_file` must be an absolute path",
            ),
            (
                "ledger: {key: {seald: true}}\n",
                "t.yaml:1:16: ledger setting `key`: unknown key `seald`; did you mean `sealed`?",
            ),
        ] {
            let found = problems(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with(message), "{} is not {message}", found[0]);
        }
        let twice = "ledger:\n  durability: durable\n  durability: relaxed\n";
        assert!(problems(twice)[0].contains("`durability` is set twice"));
    }
}
