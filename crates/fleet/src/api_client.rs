// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sends signed requests to the fleet server.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tenterhook_error::Failure;
use tenterhook_fleet_server::{OperatorKey, SIGNATURE_HEADER};

use crate::environment::{FleetContext, failure};

/// How long a request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum length of a response.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;

/// Options of commands that ask the server.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ServerArgs {
    /// File with your key; also `TENTERHOOK_FLEET_KEY`. Without it, the administrator's key of a trial is used
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// URL of the fleet server, if it differs from the one in the key file
    #[arg(long, value_name = "URL")]
    server: Option<String>,
}

impl ServerArgs {
    /// Returns the URL that was given.
    pub(crate) fn url(&self) -> Option<&str> {
        self.server.as_deref()
    }
}

/// A connection to the server with the key of an operator.
pub(crate) struct ApiClient {
    pub(crate) key: OperatorKey,
    server: String,
    agent: ureq::Agent,
}

impl ApiClient {
    /// Loads the key.
    pub(crate) fn open(context: &FleetContext, args: &ServerArgs) -> Result<Self, Failure> {
        let from_env = || context.variable("TENTERHOOK_FLEET_KEY").map(PathBuf::from);
        let path = match args.key.clone().or_else(from_env) {
            Some(path) => path,
            None => context.server_state()?.join("admin-default.json"),
        };
        if !path.exists() {
            let error = Failure::user(format!("there is no key in `{}`", path.display()));
            return Err(
                error.hint("start a trial with `tenterhook fleet serve`, or name your key with `--key`")
            );
        }
        let key = OperatorKey::load(&path).map_err(failure)?;
        let server = args.server.clone().unwrap_or_else(|| key.server.clone());
        let library = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = ureq::tls::TlsConfig::builder().unversioned_rustls_crypto_provider(library).build();
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(REQUEST_TIMEOUT))
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .tls_config(tls)
            .build();
        Ok(Self { key, server: server.trim_end_matches('/').to_owned(), agent: agent.into() })
    }

    /// Returns the address of the server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Reads a resource.
    pub(crate) fn get(&self, path: &str, parameters: &[(&str, Option<String>)]) -> Result<Value, Failure> {
        let pairs =
            parameters.iter().filter_map(|(name, value)| Some(format!("{name}={}", encode(value.as_ref()?))));
        let query = pairs.collect::<Vec<_>>().join("&");
        let path = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
        let header = self.key.sign("GET", &path, b"").map_err(failure)?;
        let request = self.agent.get(format!("{}{path}", self.server)).header(SIGNATURE_HEADER, &header);
        self.read(request.call())
    }

    /// Runs an operation.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let body = body.to_string();
        let header = self.key.sign("POST", path, body.as_bytes()).map_err(failure)?;
        let request = self.agent.post(format!("{}{path}", self.server)).header(SIGNATURE_HEADER, &header);
        self.read(request.header("content-type", "application/json").send(body))
    }

    fn read(
        &self,
        response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Value, Failure> {
        let unreachable = |error: ureq::Error| {
            Failure::busy(format!("cannot reach the fleet server at `{}`: {error}", self.server))
                .hint("check that `tenterhook fleet serve` is running, or name its address with `--server`")
        };
        let mut response = response.map_err(unreachable)?;
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(MAX_RESPONSE_BYTES).read_to_string();
        let text = text.map_err(unreachable)?;
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        if (200..300).contains(&status) {
            return Ok(value);
        }
        let error = value.get("error");
        let field = |name| error.and_then(|error| error.get(name)).and_then(Value::as_str);
        let message = field("message")
            .map_or_else(|| format!("the fleet server answered with status {status}"), ToOwned::to_owned);
        let failure = match status {
            400 | 422 => Failure::user(message),
            401 | 403 => Failure::denied(message),
            404 => Failure::not_found(message),
            409 => Failure::conflict(message),
            503 => Failure::busy(message),
            _ => Failure::internal(message),
        };
        Err(field("hint").into_iter().fold(failure, Failure::hint))
    }
}

/// Encodes a value of a query.
fn encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
        encoded
    })
}
