// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Typed parts of a request. A part that cannot be read results in an [`ApiError`] with the reason.

use axum::RequestPartsExt as _;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::ApiError;
use crate::objects;

const HINT: &str = "GET /v1/openapi.json describes each request";

/// JSON request body. A missing body is treated as an empty object.
pub struct RequestBody<T>(pub T);

/// Parameters of the query string.
pub struct QueryParams<T>(pub T);

/// Parameters in the path.
pub struct PathParams<T>(pub T);

/// Request body that is the text of a policy.
pub struct YamlText(pub String);

/// Request body that is a harness's own payload.
pub struct HarnessPayload(pub Bytes);

/// Returns the error for a part that cannot be read. The framework's own prefix is removed from the reason.
fn invalid(part: &str, why: &str) -> ApiError {
    let why = ["Failed to deserialize query string: ", "Invalid URL: "]
        .iter()
        .find_map(|introduction| why.strip_prefix(introduction))
        .unwrap_or(why);
    ApiError::bad_request(format!("invalid {part}: {why}")).hint(HINT)
}

async fn read_bytes<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiError> {
    let read = Bytes::from_request(request, state).await;
    read.map_err(|error| ApiError::new(error.status(), error.body_text()))
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for RequestBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = read_bytes(request, state).await?;
        let json = if bytes.is_empty() { b"{}" } else { bytes.as_ref() };
        objects::from_json(json).map(Self).map_err(|error| invalid("request body", &error.to_string()))
    }
}

impl<S: Send + Sync> FromRequest<S> for YamlText {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = read_bytes(request, state).await?;
        let text = String::from_utf8(bytes.into());
        text.map(Self).map_err(|_| ApiError::bad_request("the text is not UTF-8"))
    }
}

impl<S: Send + Sync> FromRequest<S> for HarnessPayload {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        read_bytes(request, state).await.map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let read = Query::<T>::try_from_uri(&parts.uri);
        read.map(|Query(query)| Self(query)).map_err(|error| invalid("query", &error.body_text()))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send + 'static> FromRequestParts<S> for PathParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        let read = parts.extract::<Path<T>>().await;
        read.map(|Path(params)| Self(params)).map_err(|error| invalid("path", &error.body_text()))
    }
}
