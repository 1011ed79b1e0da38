// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Posting once to an HTTP endpoint, bounded.

use std::sync::Arc;
use std::time::Duration;

/// A request to make once.
#[derive(Debug, Clone)]
pub struct Post {
    /// Where to.
    pub url: String,
    /// With these headers.
    pub headers: Vec<(String, String)>,
    /// What.
    pub body: Vec<u8>,
    /// How long it may take.
    pub limit: Duration,
    /// The most bytes read of the answer; a longer one is a failure.
    pub most: usize,
}

/// The request could not be sent, or its answer not be read.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct PostError(#[from] Box<ureq::Error>);

impl From<ureq::Error> for PostError {
    fn from(error: ureq::Error) -> Self {
        Self(Box::new(error))
    }
}

/// There was no answer that could be used.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// Not in time.
    #[error("timed out")]
    TimedOut,
    /// Not at all, and why.
    #[error("{0}")]
    Failed(String),
}

/// Posts, and returns the body of a 2xx answer. Anything else is a failure; redirects are not
/// followed.
pub async fn post(post: Post) -> Result<Vec<u8>, Unanswered> {
    let limit = post.limit;
    let sent = tokio::task::spawn_blocking(move || post.send());
    let (status, body) = match tokio::time::timeout(limit, sent).await {
        Ok(Ok(Ok(answer))) => answer,
        Ok(Ok(Err(error))) => return Err(Unanswered::Failed(error.to_string())),
        Ok(Err(error)) => return Err(Unanswered::Failed(error.to_string())),
        Err(_) => return Err(Unanswered::TimedOut),
    };
    if (200..300).contains(&status) {
        Ok(body)
    } else {
        Err(Unanswered::Failed(format!("HTTP status {status}")))
    }
}

/// Posts, and nobody waits for the answer.
pub fn post_and_forget(post: Post) {
    tokio::task::spawn_blocking(move || post.send());
}

impl Post {
    /// Posts here and now; status and body come back, whatever the status is.
    pub fn send(self) -> Result<(u16, Vec<u8>), PostError> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(self.limit))
            // A redirect could send the payload to somebody else.
            .max_redirects(0)
            .http_status_as_error(false)
            // The environment must not choose who answers for a hook.
            .proxy(None)
            .tls_config(tls())
            .build()
            .into();
        let mut request = agent.post(&self.url);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut response = request.send(self.body.as_slice())?;
        let most = u64::try_from(self.most).unwrap_or(u64::MAX);
        let body = response.body_mut().with_config().limit(most).read_to_vec();
        Ok((response.status().as_u16(), body?))
    }
}

/// TLS by the one library of cryptography that the ledger signs with as well.
fn tls() -> ureq::tls::TlsConfig {
    let library = rustls::crypto::aws_lc_rs::default_provider();
    ureq::tls::TlsConfig::builder().unversioned_rustls_crypto_provider(Arc::new(library)).build()
}
