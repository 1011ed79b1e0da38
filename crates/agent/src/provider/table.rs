// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The table of model providers.

use super::anthropic::AnthropicProtocol;
use super::gemini::GeminiProtocol;
use super::openai::OpenAiProtocol;
use super::protocol::ProviderProtocol;
use super::remote::RemoteProvider;
use super::{ApiKey, Provider, ProviderError, ProviderErrorKind, ProviderLimits};

/// A model provider: its name, environment variables, base URL and protocol.
pub struct ProviderSpec {
    /// Name on the command line.
    pub name: &'static str,
    /// Environment variable that contains the API key.
    pub key_variable: &'static str,
    /// Environment variable that overrides the base URL.
    pub base_url_variable: &'static str,
    /// Default base URL.
    pub base_url: &'static str,
    protocol: fn() -> Box<dyn ProviderProtocol>,
    /// Whether servers at other base URLs may be used without a key.
    keyless: bool,
}

/// All providers that an agent can use.
pub const PROVIDERS: &[ProviderSpec] = &[
    ProviderSpec {
        name: "anthropic",
        key_variable: "ANTHROPIC_API_KEY",
        base_url_variable: "ANTHROPIC_BASE_URL",
        base_url: "https://api.anthropic.com",
        protocol: || Box::new(AnthropicProtocol),
        keyless: false,
    },
    ProviderSpec {
        name: "openai",
        key_variable: "OPENAI_API_KEY",
        base_url_variable: "OPENAI_BASE_URL",
        base_url: "https://api.openai.com/v1",
        protocol: || Box::new(OpenAiProtocol),
        keyless: true,
    },
    ProviderSpec {
        name: "gemini",
        key_variable: "GEMINI_API_KEY",
        base_url_variable: "GOOGLE_GEMINI_BASE_URL",
        base_url: "https://generativelanguage.googleapis.com",
        protocol: || Box::new(GeminiProtocol::new()),
        keyless: false,
    },
];

/// Settings of a provider.
#[derive(Debug, Clone, Default)]
pub struct ProviderSettings {
    /// API key; `None` if the provider is used without one.
    pub key: Option<ApiKey>,
    /// Base URL; `None` for the provider's default.
    pub base_url: Option<String>,
    /// Timeouts and retries.
    pub limits: ProviderLimits,
}

/// Creates the provider with this name.
pub fn provider_by_name(name: &str, settings: ProviderSettings) -> Result<Box<dyn Provider>, ProviderError> {
    let spec = PROVIDERS.iter().find(|spec| spec.name == name).ok_or_else(|| unknown_provider(name))?;
    let ProviderSettings { key, base_url, limits } = settings;
    let custom_url = base_url.as_deref().map(str::trim).filter(|url| !url.is_empty());
    if key.is_none() && !(spec.keyless && custom_url.is_some()) {
        let message = format!("no API key for {name}");
        let hint = format!("set {}, or use --provider scripted:FILE", spec.key_variable);
        return Err(ProviderError::new(ProviderErrorKind::InvalidSettings, message).hint(hint));
    }
    let base_url = custom_url.unwrap_or(spec.base_url).trim_end_matches('/').to_owned();
    if !["http://", "https://"].iter().any(|scheme| base_url.starts_with(scheme)) {
        let message = format!("invalid base URL `{base_url}`");
        let hint = format!("{} must begin with https:// or http://", spec.base_url_variable);
        return Err(ProviderError::new(ProviderErrorKind::InvalidSettings, message).hint(hint));
    }
    Ok(Box::new(RemoteProvider { spec, protocol: (spec.protocol)(), base_url, key, limits }))
}

fn unknown_provider(name: &str) -> ProviderError {
    let known: Vec<_> = PROVIDERS.iter().map(|spec| spec.name).chain(["scripted:FILE"]).collect();
    let message = format!("unknown provider `{name}`");
    ProviderError::new(ProviderErrorKind::InvalidSettings, message)
        .hint(format!("use one of: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(name: &str, key: Option<&str>, base_url: Option<&str>) -> String {
        let key = key.and_then(ApiKey::new);
        let settings = ProviderSettings {
            key,
            base_url: base_url.map(ToOwned::to_owned),
            ..ProviderSettings::default()
        };
        match provider_by_name(name, settings) {
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
        no API key for anthropic; set ANTHROPIC_API_KEY, or use --provider scripted:FILE
        no API key for openai; set OPENAI_API_KEY, or use --provider scripted:FILE
        no API key for gemini; set GEMINI_API_KEY, or use --provider scripted:FILE
        invalid base URL `127.0.0.1:1`; GOOGLE_GEMINI_BASE_URL must begin with https:// or http://
        unknown provider `claude`; use one of: anthropic, openai, gemini, scripted:FILE
        openai
        anthropic
        ");
    }
}
