// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads request bodies completely, with limits on time and size.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tenterhook_harness::MAX_PAYLOAD_BYTES;

use super::error::ApiError;

/// Maximum time for a body to arrive.
const BODY_READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the whole body before the handler runs.
pub(super) async fn read_whole_body(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let length = parts.headers.get(header::CONTENT_LENGTH);
    if length.is_some() && parts.headers.contains_key(header::TRANSFER_ENCODING) {
        let why = "the request has both `Content-Length` and `Transfer-Encoding`";
        return ApiError::bad_request(why).into_response();
    }
    let length = length.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > MAX_PAYLOAD_BYTES as u64) {
        return too_large();
    }
    match tokio::time::timeout(BODY_READ_TIMEOUT, to_bytes(body, MAX_PAYLOAD_BYTES)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        // The body is too long, or the sender has disconnected and does not read the response.
        Ok(Err(_)) => too_large(),
        Err(_) => {
            let why = format!("the body did not arrive within {} seconds", BODY_READ_TIMEOUT.as_secs());
            ApiError::new(StatusCode::REQUEST_TIMEOUT, why).into_response()
        }
    }
}

fn too_large() -> Response {
    let why = format!("the body is larger than {} MiB or incomplete", MAX_PAYLOAD_BYTES / 1024 / 1024);
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, why).into_response()
}
