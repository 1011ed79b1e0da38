// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What an operation takes and returns, read from the signature of its handler.

use std::marker::PhantomData;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};

use crate::error::ApiError;
use crate::extract::{HarnessPayload, PathParams, QueryParams, RequestBody, YamlText};

/// Types of an operation.
#[derive(Default)]
pub struct OperationShape {
    /// Types of the variable parts of the path, in JSON Schema.
    pub path: &'static [&'static str],
    /// Type of the query.
    pub query: Option<TypeSchema>,
    /// Content of the request.
    pub body: Option<ContentShape>,
    /// Content of the response.
    pub response: Option<ContentShape>,
}

/// Content of a request or response.
pub enum ContentShape {
    /// JSON of a type.
    Json(TypeSchema),
    /// JSON of any shape.
    AnyJson,
    /// Server-sent events whose data is JSON.
    Stream(TypeSchema),
    /// Text of one of these media types.
    Text(&'static [&'static str]),
    /// A YAML document.
    Yaml,
    /// JSON that a harness defines.
    Native,
}

/// Schema of a type. It exists only where the OpenAPI document is generated.
pub struct TypeSchema {
    /// The schema, or a reference to it.
    #[cfg(feature = "schema")]
    pub generate: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
    /// The schema of the type itself instead of a reference to it.
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

/// A handler whose parameters and response have a type.
pub trait TypedHandler<Args> {
    /// Adds its types.
    fn describe(shape: &mut OperationShape);
}

/// A parameter of a handler.
pub trait TypedParameter {
    /// Adds its type.
    fn describe(_shape: &mut OperationShape) {}
}

/// A response of a handler.
pub trait TypedResponse {
    /// Adds its type.
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

/// Server-sent events whose data is JSON of a type.
pub struct EventStream<T>(Response, PhantomData<T>);

/// Text of one of several media types.
pub struct TextResponse<M>(Response, PhantomData<M>);

/// JSON text that is served as it is.
pub struct JsonText(pub &'static str);

/// A harness's own reply.
pub struct NativeResponse(pub Response);

/// Media types of a text.
pub trait MediaTypes {
    /// Names of the media types.
    const NAMES: &'static [&'static str];
}

/// Plain text responses.
pub struct PlainTextMedia;
/// HTML page responses.
pub struct HtmlMedia;
/// Metrics for Prometheus.
pub struct OpenMetricsMedia;
/// Records as lines of JSON or as a table.
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
    /// A response that streams.
    pub fn new(response: Response) -> Self {
        Self(response, PhantomData)
    }
}

impl<M> TextResponse<M> {
    /// A response with a text.
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
