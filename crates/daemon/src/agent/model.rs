// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Selects the model of a session. API keys come from the daemon's environment: a request contains none, and a key is
//! sent only to the server that the environment names.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use tenterhook_agent::CancelToken;
use tenterhook_agent::provider::{
    self, ApiKey, ModelReply, ModelRequest, PROVIDERS, Provider, ProviderError, ProviderErrorKind,
    ProviderSpec, ReplyDelta, ScriptedProvider,
};
use tenterhook_files::FileClass;
use tenterhook_home::Env;

use crate::sdk::{ProgramRefusal, RefusalCode};

/// Maximum size of a script for the scripted model.
const MAX_SCRIPT_BYTES: u64 = 1024 * 1024;

/// API keys and addresses of models, from the daemon's environment.
#[derive(Default)]
pub(super) struct ModelSettings {
    variables: BTreeMap<&'static str, String>,
}

/// `ModelConfig` as a program sends it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ModelChoice {
    #[serde(default)]
    provider: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    base_url: Option<String>,
    #[serde(default)]
    script: Option<String>,
    #[serde(default)]
    pub(super) temperature: Option<f64>,
    #[serde(default)]
    pub(super) max_tokens: Option<u32>,
}

/// A provider, and the model name that events carry.
pub(super) struct SelectedModel {
    pub(super) name: String,
    pub(super) provider: Arc<dyn Provider>,
}

/// Provider for a session that has tools but no model.
pub(super) struct MissingModel;

impl ModelSettings {
    pub(super) fn of(env: &Env) -> Self {
        let names = PROVIDERS.iter().flat_map(|maker| [maker.key_variable, maker.base_url_variable]);
        let variables = names.filter_map(|name| Some((name, env.all.get(name)?.clone())));
        Self { variables: variables.collect() }
    }

    /// Selects the model of a session. Relative paths start at the session's directory.
    pub(super) async fn select(
        &self,
        wanted: &ModelChoice,
        dir: &Path,
    ) -> Result<SelectedModel, ProgramRefusal> {
        let Some(provider) = wanted.provider.as_deref() else {
            return Ok(SelectedModel { name: "none".to_owned(), provider: Arc::new(MissingModel) });
        };
        if provider == "scripted" {
            return wanted.load_script(dir).await;
        }
        let Some(maker) = PROVIDERS.iter().find(|maker| maker.name == provider) else {
            let known: Vec<_> = PROVIDERS.iter().map(|maker| maker.name).chain(["scripted"]).collect();
            let given = tenterhook_records::sanitize(provider, 100);
            return Err(invalid(
                format!("unknown provider `{given}`"),
                &format!("known: {}", known.join(", ")),
            ));
        };
        let Some(name) = wanted.name.clone().filter(|name| !name.is_empty()) else {
            return Err(invalid(format!("no model is named for {provider}"), "set `name`"));
        };
        let provider = self.connect(maker, wanted.base_url.as_deref())?;
        Ok(SelectedModel { name, provider: provider.into() })
    }

    fn connect(
        &self,
        maker: &ProviderSpec,
        elsewhere: Option<&str>,
    ) -> Result<Box<dyn Provider>, ProgramRefusal> {
        let known = self.variables.get(maker.base_url_variable).map_or(maker.base_url, String::as_str);
        let base_url = elsewhere.unwrap_or(known);
        let is_known = base_url.trim_end_matches('/') == known.trim_end_matches('/');
        let key = self.variables.get(maker.key_variable).and_then(|key| ApiKey::new(key));
        let key = key.filter(|_| is_known);
        let has_key = key.is_some();
        // A provider at its default address always needs a key; at another address, a key may be optional. So the
        // address is passed on only if it differs from the default.
        let base_url = (base_url != maker.base_url).then(|| base_url.to_owned());
        let settings = provider::ProviderSettings { key, base_url, ..provider::ProviderSettings::default() };
        provider::provider_by_name(maker.name, settings).map_err(|error| match (has_key, is_known) {
            (true, _) => provider_refusal(error),
            (false, true) => {
                let why = format!("the daemon has no key for {}", maker.name);
                invalid(why, &format!("start it with {} in its environment", maker.key_variable))
            }
            (false, false) => {
                let why = format!("the daemon sends its key for {} only to {known}", maker.name);
                invalid(why, &format!("start it with {} in its environment", maker.base_url_variable))
            }
        })
    }
}

impl ModelChoice {
    async fn load_script(&self, dir: &Path) -> Result<SelectedModel, ProgramRefusal> {
        let Some(script) = &self.script else {
            return Err(invalid("a scripted model needs its `script`".to_owned(), "name a file"));
        };
        let path = dir.join(script);
        let shown = path.display().to_string();
        let read = tokio::task::spawn_blocking(move || {
            let text = tenterhook_files::read_text(&path, FileClass::Configuration, MAX_SCRIPT_BYTES)?;
            text.ok_or_else(|| std::io::Error::other("no such file"))
        });
        let text = match read.await {
            Ok(Ok(text)) => text,
            Ok(Err(why)) => {
                return Err(invalid(format!("the script cannot be read: {why}"), "name a readable file"));
            }
            Err(why) => return Err(ProgramRefusal::new(RefusalCode::Internal, why.to_string(), "")),
        };
        let provider = Arc::new(ScriptedProvider::parse(&shown, &text).map_err(provider_refusal)?);
        Ok(SelectedModel { name: self.name.clone().unwrap_or_else(|| "scripted-1".to_owned()), provider })
    }
}

fn invalid(why: String, hint: &str) -> ProgramRefusal {
    ProgramRefusal::new(RefusalCode::Invalid, why, hint)
}

fn provider_refusal(error: ProviderError) -> ProgramRefusal {
    let hint = error.hint.clone().unwrap_or_default();
    invalid(error.message, &hint)
}

impl Provider for MissingModel {
    fn name(&self) -> &'static str {
        "none"
    }

    fn generate<'a>(
        &'a self,
        _: &'a ModelRequest,
        _: &'a mut (dyn FnMut(ReplyDelta) + Send),
        _: &'a CancelToken,
    ) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        let error =
            ProviderError::new(ProviderErrorKind::InvalidSettings, "this session has no model, only tools");
        Box::pin(std::future::ready(Err(error.hint("create it with a `model`"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn find(variables: &[(&'static str, &str)], wanted: &str) -> String {
        let variables = variables.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let models = ModelSettings { variables: variables.collect() };
        let wanted: ModelChoice = serde_json::from_str(wanted).unwrap();
        match models.select(&wanted, Path::new("/nowhere")).await {
            Ok(model) => format!("{} of {}", model.name, model.provider.name()),
            Err(refusal) => format!("{}; {}", refusal.message, refusal.hint),
        }
    }

    #[tokio::test]
    async fn a_key_goes_where_the_daemon_s_environment_says_and_nowhere_else() {
        let key = ("ANTHROPIC_API_KEY", "sk-1");
        let here = ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
        let asks = |base: &str| format!(r#"{{"provider": "anthropic", "name": "m", "baseUrl": "{base}"}}"#);
        let answers = [
            find(&[key], r#"{"provider": "anthropic", "name": "m"}"#).await,
            find(&[key], &asks("https://api.anthropic.com/")).await,
            find(&[key], &asks("http://elsewhere")).await,
            find(&[key, here], &asks("http://127.0.0.1:9")).await,
            find(&[key, here], &asks("https://api.anthropic.com")).await,
            find(&[], r#"{"provider": "anthropic", "name": "m"}"#).await,
            find(&[], r#"{"provider": "anthropic"}"#).await,
            find(&[], r#"{"provider": "openai", "name": "m", "baseUrl": "http://127.0.0.1:1/v1"}"#).await,
            find(&[], r#"{"provider": "openai", "name": "m"}"#).await,
            find(&[], r#"{"provider": "mine", "name": "m"}"#).await,
            find(&[], r#"{"provider": "scripted"}"#).await,
            find(&[], r#"{"provider": "scripted", "script": "no.yaml"}"#).await,
            find(&[], "{}").await,
        ];
        insta::assert_snapshot!(answers.join("\n"), @"
        m of anthropic
        m of anthropic
        the daemon sends its key for anthropic only to https://api.anthropic.com; start it with ANTHROPIC_BASE_URL in its environment
        m of anthropic
        the daemon sends its key for anthropic only to http://127.0.0.1:9; start it with ANTHROPIC_BASE_URL in its environment
        the daemon has no key for anthropic; start it with ANTHROPIC_API_KEY in its environment
        no model is named for anthropic; set `name`
        m of openai
        the daemon has no key for openai; start it with OPENAI_API_KEY in its environment
        unknown provider `mine`; known: anthropic, openai, gemini, scripted
        a scripted model needs its `script`; name a file
        the script cannot be read: no such file; name a readable file
        none of none
        ");
    }
}
