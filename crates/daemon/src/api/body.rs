// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Bodies have to arrive: all of them, in time, and not larger than any payload may be.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tenterhook_harness::MAX_PAYLOAD_BYTES;

use super::error::ApiError;

/// How long a body may take.
const BODY_READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Takes the whole body before anybody looks at it.
pub(super) async fn bounded(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let length = parts.headers.get(header::CONTENT_LENGTH);
    if length.is_some() && parts.headers.contains_key(header::TRANSFER_ENCODING) {
        let why = "a request has a length or comes in chunks, not both";
        return ApiError::bad_request(why).into_response();
    }
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_PAYLOAD_BYTES as u64) {
        return too_large();
    }
    match tokio::time::timeout(BODY_READ_TIMEOUT, to_bytes(body, MAX_PAYLOAD_BYTES)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        // Too long, or the sender is gone and does not read the answer.
        Ok(Err(_)) => too_large(),
        Err(_) => {
            let why = format!("the body did not arrive within {} seconds", BODY_READ_TIMEOUT.as_secs());
            ApiError::new(StatusCode::REQUEST_TIMEOUT, why).into_response()
        }
    }
}

fn too_large() -> Response {
    let why = format!("the body is larger than {} MiB, or was cut off", MAX_PAYLOAD_BYTES / 1024 / 1024);
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, why).into_response()
}
