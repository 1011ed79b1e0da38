// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The protocols we speak, one row each.

use super::anthropic::Messages;
use super::gemini::GenerateContent;
use super::openai::ChatCompletions;
use super::remote::Remote;
use super::wire::Wire;
use super::{Failing, Key, Limits, Provider, ProviderError};

/// Who makes models, and how they are reached. Whoever reads the environment finds the names here.
pub struct Maker {
    /// As the person names it.
    pub name: &'static str,
    /// The variable that holds the key.
    pub key_variable: &'static str,
    /// The variable that holds another address.
    pub base_url_variable: &'static str,
    /// The address, unless another is given.
    pub base_url: &'static str,
    wire: fn() -> Box<dyn Wire>,
    /// Whether some servers that speak the protocol want no key.
    keyless: bool,
}

/// Every one of them.
pub const MAKERS: &[Maker] = &[
    Maker {
        name: "anthropic",
        key_variable: "ANTHROPIC_API_KEY",
        base_url_variable: "ANTHROPIC_BASE_URL",
        base_url: "https://api.anthropic.com",
        wire: || Box::new(Messages),
        keyless: false,
    },
    Maker {
        name: "openai",
        key_variable: "OPENAI_API_KEY",
        base_url_variable: "OPENAI_BASE_URL",
        base_url: "https://api.openai.com/v1",
        wire: || Box::new(ChatCompletions),
        keyless: true,
    },
    Maker {
        name: "gemini",
        key_variable: "GEMINI_API_KEY",
        base_url_variable: "GOOGLE_GEMINI_BASE_URL",
        base_url: "https://generativelanguage.googleapis.com",
        wire: || Box::new(GenerateContent::new()),
        keyless: false,
    },
];

/// How a model is reached.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The key to it.
    pub key: Option<Key>,
    /// Where it is, if not where its maker is.
    pub base_url: Option<String>,
    /// How long it is waited for.
    pub limits: Limits,
}

/// The provider of this name.
pub fn named(name: &str, settings: Settings) -> Result<Box<dyn Provider>, ProviderError> {
    let maker = MAKERS.iter().find(|maker| maker.name == name).ok_or_else(|| unknown(name))?;
    let Settings { key, base_url, limits } = settings;
    let elsewhere = base_url.as_deref().map(str::trim).filter(|url| !url.is_empty());
    if key.is_none() && !(maker.keyless && elsewhere.is_some()) {
        let message = format!("there is no key for {name}");
        let hint = format!("set {}, or use --provider scripted:FILE", maker.key_variable);
        return Err(ProviderError::new(Failing::Settings, message).hint(hint));
    }
    let base_url = elsewhere.unwrap_or(maker.base_url).trim_end_matches('/').to_owned();
    if !["http://", "https://"].iter().any(|scheme| base_url.starts_with(scheme)) {
        let message = format!("`{base_url}` is no address of a model server");
        let hint = format!("{} begins with https:// or http://", maker.base_url_variable);
        return Err(ProviderError::new(Failing::Settings, message).hint(hint));
    }
    Ok(Box::new(Remote { maker, wire: (maker.wire)(), base_url, key, limits }))
}

fn unknown(name: &str) -> ProviderError {
    let known: Vec<_> = MAKERS.iter().map(|maker| maker.name).chain(["scripted:FILE"]).collect();
    let message = format!("there is no provider `{name}`");
    ProviderError::new(Failing::Settings, message).hint(format!("use one of: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, key: Option<&str>, base_url: Option<&str>) -> String {
        let key = key.and_then(Key::new);
        let settings = Settings { key, base_url: base_url.map(ToOwned::to_owned), ..Settings::default() };
        match named(name, settings) {
            Ok(provider) => provider.name().to_owned(),
            Err(error) => format!("{error}; {}", error.hint.as_deref().unwrap_or_default()),
        }
    }

    #[test]
    fn what_is_missing_is_said_with_what_to_do() {
        let answers = [
            refusal("anthropic", None, None),
            refusal("openai", Some("  "), None),
            refusal("gemini", None, Some("http://127.0.0.1:1")),
            refusal("gemini", Some("k"), Some("127.0.0.1:1")),
            refusal("claude", Some("k"), None),
            refusal("openai", None, Some("http://127.0.0.1:1/v1/")),
            refusal("anthropic", Some("k"), None),
        ];
        insta::assert_snapshot!(answers.join("\n"), @"
        there is no key for anthropic; set ANTHROPIC_API_KEY, or use --provider scripted:FILE
        there is no key for openai; set OPENAI_API_KEY, or use --provider scripted:FILE
        there is no key for gemini; set GEMINI_API_KEY, or use --provider scripted:FILE
        `127.0.0.1:1` is no address of a model server; GOOGLE_GEMINI_BASE_URL begins with https:// or http://
        there is no provider `claude`; use one of: anthropic, openai, gemini, scripted:FILE
        openai
        anthropic
        ");
    }
}
