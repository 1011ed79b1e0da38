// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook that is an HTTP endpoint: the dialect's payload is posted, a 2xx JSON body is its answer.

use std::time::Duration;

use tenterhook_event::{Call, Finding, Origin};
use tenterhook_harness::dialect::{Exited, Heard};

use super::Failure;
use crate::Http;
use crate::post::{Post, Unanswered, post, post_and_forget};

pub(super) async fn run(http: &Http, call: &Call, by: Origin, limit: Duration) -> Result<Heard, Failure> {
    let body = match post(request(http, call, limit)).await {
        Ok(body) => body,
        Err(Unanswered::TimedOut) => return Err(Failure::TimedOut),
        Err(Unanswered::Failed(why)) => return Err(Failure::Unreachable(why)),
    };
    match body.trim_ascii().first() {
        None => return Ok(Finding::silent(by).into()),
        Some(b'{') => {}
        Some(_) => return Err(Failure::Failed("the answer is not a JSON object".to_owned())),
    }
    let exited = Exited { code: Some(0), stdout: body, stderr: Vec::new() };
    http.dialect.hear(&call.event, by, &exited).map_err(|misheard| Failure::Failed(misheard.to_string()))
}

/// Posts as an observer: nobody waits, and nothing it says counts.
pub(super) fn observe(http: &Http, call: &Call, limit: Duration) {
    post_and_forget(request(http, call, limit));
}

fn request(http: &Http, call: &Call, limit: Duration) -> Post {
    Post {
        url: http.url.clone(),
        headers: http.headers.clone(),
        body: http.dialect.stdin(call),
        limit,
        most: http.output_limit,
    }
}

#[cfg(test)]
mod tests;
