// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs hooks that are HTTP endpoints. The payload is posted in the hook's dialect, and the JSON body of a 2xx
//! response is the answer.

use std::time::Duration;

use tenterhook_event::{Finding, HookCall, Origin};
use tenterhook_harness::dialect::{HookExit, InterpretedOutput};

use super::RunFailure;
use crate::HttpHook;
use crate::http_post::{self, HttpPost, HttpPostFailure};

pub(super) async fn run(
    http: &HttpHook,
    call: &HookCall,
    by: Origin,
    timeout: Duration,
) -> Result<InterpretedOutput, RunFailure> {
    let body = match http_post::fetch_body(new_request(http, call, timeout)).await {
        Ok(body) => body,
        Err(HttpPostFailure::TimedOut) => return Err(RunFailure::TimedOut),
        Err(HttpPostFailure::Failed(why)) => return Err(RunFailure::Unreachable(why)),
    };
    match body.trim_ascii().first() {
        None => return Ok(Finding::silent(by).into()),
        Some(b'{') => {}
        Some(_) => return Err(RunFailure::Failed("the response is not a JSON object".to_owned())),
    }
    let exited = HookExit { code: Some(0), stdout: body, stderr: Vec::new() };
    http.dialect.interpret(&call.event, by, &exited).map_err(|error| RunFailure::Failed(error.to_string()))
}

/// Posts the event to an observer. The call does not wait, and the response is ignored.
pub(super) fn observe(http: &HttpHook, call: &HookCall, timeout: Duration) {
    http_post::send_in_background(new_request(http, call, timeout));
}

fn new_request(http: &HttpHook, call: &HookCall, timeout: Duration) -> HttpPost {
    HttpPost {
        url: http.url.clone(),
        headers: http.headers.clone(),
        body: http.dialect.stdin(call),
        timeout,
        max_response_bytes: http.max_output_bytes,
    }
}

#[cfg(test)]
mod tests;
