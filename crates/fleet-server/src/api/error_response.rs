// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Errors as HTTP responses.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::error::{FleetError, FleetErrorKind};

impl IntoResponse for FleetError {
    fn into_response(self) -> Response {
        let status = match self.kind() {
            FleetErrorKind::Invalid => StatusCode::BAD_REQUEST,
            FleetErrorKind::Forbidden => StatusCode::FORBIDDEN,
            FleetErrorKind::NotFound => StatusCode::NOT_FOUND,
            FleetErrorKind::Conflict => StatusCode::CONFLICT,
            FleetErrorKind::Unavailable | FleetErrorKind::Incompatible => StatusCode::SERVICE_UNAVAILABLE,
            FleetErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let message = if status.is_server_error() {
            // Details of the engines are for the log, not for a caller.
            tracing::warn!(error = %self, "a request failed");
            match status {
                StatusCode::SERVICE_UNAVAILABLE => {
                    "the fleet server cannot reach its database or message bus".to_owned()
                }
                _ => "the fleet server failed".to_owned(),
            }
        } else {
            self.to_string()
        };
        let hint = self.hint().filter(|_| !status.is_server_error());
        (status, Json(json!({ "error": { "message": message, "hint": hint } }))).into_response()
    }
}
