// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An operation's parameter and response types, read from its handler's signature.

use std::marker::PhantomData;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};

use crate::error::ApiError;
use crate::extract::{HarnessPayload, PathParams, QueryParams, RequestBody, YamlText};

/// Parameter and response types of an operation.
#[derive(Default)]
pub struct OperationShape {
    /// JSON Schema types of the path parameters.
    pub path: &'static [&'static str],
    /// Type of the query parameters.
    pub query: Option<TypeSchema>,
    /// Content of the request body.
    pub body: Option<ContentShape>,
    /// Content of the response body.
    pub response: Option<ContentShape>,
}

/// Content of a request or response body.
pub enum ContentShape {
    /// JSON that matches a type.
    Json(TypeSchema),
    /// Any JSON value.
    AnyJson,
    /// Server-sent events whose data is JSON.
    Stream(TypeSchema),
    /// Text in one of these media types.
    Text(&'static [&'static str]),
    /// A YAML document.
    Yaml,
    /// JSON in a format defined by a harness.
    Native,
}

/// A type's schema. The schema is compiled in only when the OpenAPI document is generated.
pub struct TypeSchema {
    /// Returns the type's schema or a reference to it.
    #[cfg(feature = "schema")]
    pub generate: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
    /// Returns the type's own schema instead of a reference to it.
    #[cfg(feature = "schema")]
    pub inline: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
}

#[cfg(feature = "schema")]
pub use schemars::JsonSchema as DescribedType;

/// A type with a schema.
#[cfg(not(feature = "schema"))]
pub trait DescribedType {}

#[cfg(not(feature = "schema"))]
impl<T> DescribedType for T {}

impl TypeSchema {
    #[cfg_attr(
        not(feature = "schema"),
        expect(clippy::extra_unused_type_parameters, reason = "only a schema needs the type")
    )]
    fn of<T: DescribedType>() -> Self {
        Self {
            #[cfg(feature = "schema")]
            generate: schemars::SchemaGenerator::subschema_for::<T>,
            #[cfg(feature = "schema")]
            inline: T::json_schema,
        }
    }
}

/// A handler with typed parameters and a typed response.
pub trait TypedHandler<Args> {
    /// Adds the handler's types to `shape`.
    fn describe(shape: &mut OperationShape);
}

/// A handler's parameter.
pub trait TypedParameter {
    /// Adds the parameter's type to `shape`.
    fn describe(_shape: &mut OperationShape) {}
}

/// A handler's response.
pub trait TypedResponse {
    /// Adds the response's type to `shape`.
    fn describe(shape: &mut OperationShape);
}

macro_rules! typed_handler {
    ($($parameter:ident),*) => {
        impl<F, Fut, R, $($parameter),*> TypedHandler<($($parameter,)*)> for F
        where
            F: Fn($($parameter),*) -> Fut,
            Fut: Future<Output = R>,
            R: TypedResponse,
            $($parameter: TypedParameter,)*
        {
            fn describe(shape: &mut OperationShape) {
                $($parameter::describe(shape);)*
                R::describe(shape);
            }
        }
    };
}

typed_handler!();
typed_handler!(A);
typed_handler!(A, B);
typed_handler!(A, B, C);
typed_handler!(A, B, C, D);
typed_handler!(A, B, C, D, E);

// === impl TypedParameter ===

impl<S> TypedParameter for State<S> {}
impl TypedParameter for HeaderMap {}
impl<T> TypedParameter for Extension<T> {}
impl<T> TypedParameter for Option<Extension<T>> {}

impl<T: DescribedType> TypedParameter for RequestBody<T> {
    fn describe(shape: &mut OperationShape) {
        shape.body = Some(ContentShape::Json(TypeSchema::of::<T>()));
    }
}

impl TypedParameter for YamlText {
    fn describe(shape: &mut OperationShape) {
        shape.body = Some(ContentShape::Yaml);
    }
}

impl TypedParameter for HarnessPayload {
    fn describe(shape: &mut OperationShape) {
        shape.body = Some(ContentShape::Native);
    }
}

impl<T: DescribedType> TypedParameter for QueryParams<T> {
    fn describe(shape: &mut OperationShape) {
        shape.query = Some(TypeSchema::of::<T>());
    }
}

impl TypedParameter for PathParams<String> {
    fn describe(shape: &mut OperationShape) {
        shape.path = &["string"];
    }
}

impl TypedParameter for PathParams<(String, String)> {
    fn describe(shape: &mut OperationShape) {
        shape.path = &["string", "string"];
    }
}

impl TypedParameter for PathParams<i32> {
    fn describe(shape: &mut OperationShape) {
        shape.path = &["integer"];
    }
}

// === impl TypedResponse ===

impl<T: DescribedType> TypedResponse for Json<T> {
    fn describe(shape: &mut OperationShape) {
        shape.response = Some(ContentShape::Json(TypeSchema::of::<T>()));
    }
}

impl<R: TypedResponse> TypedResponse for Result<R, ApiError> {
    fn describe(shape: &mut OperationShape) {
        R::describe(shape);
    }
}

impl<R: TypedResponse> TypedResponse for ([(HeaderName, String); 1], R) {
    fn describe(shape: &mut OperationShape) {
        R::describe(shape);
    }
}

impl<R: TypedResponse> TypedResponse for (StatusCode, R) {
    fn describe(shape: &mut OperationShape) {
        R::describe(shape);
    }
}

/// Response with server-sent events whose data is JSON that matches `T`.
pub struct EventStream<T>(Response, PhantomData<T>);

/// Text response in one of several media types.
pub struct TextResponse<M>(Response, PhantomData<M>);

/// JSON text that is served unchanged.
pub struct JsonText(pub &'static str);

/// A harness's own reply.
pub struct NativeResponse(pub Response);

/// Media types of a text response.
pub trait MediaTypes {
    /// Names of the media types.
    const NAMES: &'static [&'static str];
}

/// Media type of plain text.
pub struct PlainTextMedia;
/// Media type of HTML pages.
pub struct HtmlMedia;
/// Media type of Prometheus metrics.
pub struct OpenMetricsMedia;
/// Media types of ledger exports: JSON lines or CSV.
pub struct LedgerExportMedia;

impl MediaTypes for PlainTextMedia {
    const NAMES: &'static [&'static str] = &["text/plain"];
}

impl MediaTypes for OpenMetricsMedia {
    const NAMES: &'static [&'static str] = &["application/openmetrics-text"];
}

impl MediaTypes for HtmlMedia {
    const NAMES: &'static [&'static str] = &["text/html"];
}

impl MediaTypes for LedgerExportMedia {
    const NAMES: &'static [&'static str] = &["application/jsonl", "text/csv"];
}

impl<T> EventStream<T> {
    /// Wraps a streaming response.
    pub fn new(response: Response) -> Self {
        Self(response, PhantomData)
    }
}

impl<M> TextResponse<M> {
    /// Wraps a text response.
    pub fn new(response: impl IntoResponse) -> Self {
        Self(response.into_response(), PhantomData)
    }
}

impl<T: DescribedType> TypedResponse for EventStream<T> {
    fn describe(shape: &mut OperationShape) {
        shape.response = Some(ContentShape::Stream(TypeSchema::of::<T>()));
    }
}

impl<M: MediaTypes> TypedResponse for TextResponse<M> {
    fn describe(shape: &mut OperationShape) {
        shape.response = Some(ContentShape::Text(M::NAMES));
    }
}

impl TypedResponse for JsonText {
    fn describe(shape: &mut OperationShape) {
        shape.response = Some(ContentShape::AnyJson);
    }
}

impl TypedResponse for NativeResponse {
    fn describe(shape: &mut OperationShape) {
        shape.response = Some(ContentShape::Native);
    }
}

impl<T> IntoResponse for EventStream<T> {
    fn into_response(self) -> Response {
        self.0
    }
}

impl<M> IntoResponse for TextResponse<M> {
    fn into_response(self) -> Response {
        self.0
    }
}

impl IntoResponse for JsonText {
    fn into_response(self) -> Response {
        ([(axum::http::header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

impl IntoResponse for NativeResponse {
    fn into_response(self) -> Response {
        self.0
    }
}
