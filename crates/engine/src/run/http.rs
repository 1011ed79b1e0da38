// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook that is an HTTP endpoint: the dialect's payload is posted, a 2xx JSON body is its answer.
//!
//! Any other status, a redirect, text, or no answer in time is a failure.

use std::time::Duration;

use tenterhook_event::{Call, Finding, Origin};
use tenterhook_harness::dialect::{Exited, Heard};

use super::Failure;
use crate::Http;

pub(super) async fn run(http: &Http, call: &Call, by: Origin, limit: Duration) -> Result<Heard, Failure> {
    let body = http.dialect.stdin(call);
    let request = Request {
        url: http.url.clone(),
        headers: http.headers.clone(),
        body,
        limit,
        most: http.output_limit,
    };
    let posted = tokio::task::spawn_blocking(move || request.post());
    let (status, body) = match tokio::time::timeout(limit, posted).await {
        Ok(Ok(Ok(answer))) => answer,
        Ok(Ok(Err(why))) => return Err(Failure::Failed(why)),
        Ok(Err(error)) => return Err(Failure::Failed(error.to_string())),
        Err(_) => return Err(Failure::TimedOut),
    };
    if !(200..300).contains(&status) {
        return Err(Failure::Failed(format!("HTTP status {status}")));
    }
    if body.trim_ascii().is_empty() {
        return Ok(Finding::silent(by).into());
    }
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(Failure::Failed("the answer is not a JSON object".to_owned()));
    }
    let exited = Exited { code: Some(0), stdout: body, stderr: Vec::new() };
    http.dialect.hear(&call.event, by, &exited).map_err(|misheard| Failure::Failed(misheard.to_string()))
}

/// Posts as an observer: nobody waits, and nothing it says counts.
pub(super) fn observe(http: &Http, call: &Call, limit: Duration) {
    let body = http.dialect.stdin(call);
    let request = Request { url: http.url.clone(), headers: http.headers.clone(), body, limit, most: 0 };
    tokio::task::spawn_blocking(move || request.post());
}

struct Request {
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    limit: Duration,
    most: usize,
}

impl Request {
    fn post(self) -> Result<(u16, Vec<u8>), String> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(self.limit))
            // A redirect could send the payload to somebody else.
            .max_redirects(0)
            .http_status_as_error(false)
            .build()
            .into();
        let mut request = agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut response = request.send(&self.body[..]).map_err(|error| error.to_string())?;
        let most = u64::try_from(self.most).unwrap_or(u64::MAX);
        let body = response.body_mut().with_config().limit(most).read_to_vec();
        Ok((response.status().as_u16(), body.map_err(|error| error.to_string())?))
    }
}

#[cfg(test)]
mod tests;
