// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Generates the OpenAPI document from the routes and the schemas of their types.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use tenterhook_api::ErrorResponse;

use crate::route::{HeaderParameter, OperationMethod, Route};
use crate::shape::{ContentShape, TypeSchema};

const ABOUT: &str = "HTTP API of the Tenterhook daemon, on `127.0.0.1:7878` with the token of the state directory \
    (`run/token`), and without a token on its Unix socket.";

/// Errors that every operation may return.
const COMMON_ERRORS: &[u16] = &[400, 401, 403];

/// Schemas by direction. A field with a default is optional in a request and always present in a response.
struct Schemas {
    requests: SchemaGenerator,
    responses: SchemaGenerator,
}

/// Returns the OpenAPI document for these operations, grouped by tag. `open_path` needs no token.
pub fn document<S>(groups: Vec<(&'static str, Vec<Route<S>>)>, open_path: &str) -> Value {
    let mut schemas = Schemas::new();
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for (tag, routes) in groups {
        for route in routes {
            let operation = schemas.operation(tag, &route, open_path);
            paths.entry(route.path).or_default().insert(route.method.word().to_owned(), operation);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tenterhook",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": {"name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT"},
        },
        "servers": [{"url": "http://127.0.0.1:7878"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas.definitions(),
        },
    })
}

impl Schemas {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12()
            .with(|settings| settings.definitions_path = "/components/schemas".into());
        Self {
            requests: settings.clone().for_deserialize().into_generator(),
            responses: settings.for_serialize().into_generator(),
        }
    }

    /// Returns all definitions. A type that is used in both directions is described in its request form, because
    /// every response matches that form too.
    fn definitions(mut self) -> Map<String, Value> {
        let mut all = self.responses.take_definitions(true);
        all.extend(self.requests.take_definitions(true));
        all
    }

    fn operation<S>(&mut self, tag: &str, route: &Route<S>, open_path: &str) -> Value {
        let is_open = route.path == open_path;
        let mut responses = Map::new();
        responses.insert(route.status.to_string(), self.success(route));
        let error = self.responses.subschema_for::<ErrorResponse>();
        for status in COMMON_ERRORS.iter().filter(|_| !is_open).chain(route.errors) {
            let content = json!({"application/json": {"schema": error}});
            responses.insert(
                status.to_string(),
                json!({"description": describe_error(*status), "content": content}),
            );
        }
        let mut operation = Map::new();
        operation.insert("operationId".to_owned(), route.id.into());
        operation.insert("tags".to_owned(), json!([tag]));
        operation.insert("summary".to_owned(), route.about.into());
        operation.insert("responses".to_owned(), responses.into());
        let parameters = self.parameters(route);
        if !parameters.is_empty() {
            operation.insert("parameters".to_owned(), parameters.into());
        }
        if let Some(body) = &route.shape.body {
            let content = content(&mut self.requests, body);
            let required = is_required(&mut self.requests, body);
            operation.insert("requestBody".to_owned(), json!({"content": content, "required": required}));
        }
        if is_open {
            operation.insert("security".to_owned(), json!([{}, {"token": []}]));
        }
        operation.into()
    }

    fn success<S>(&mut self, route: &Route<S>) -> Value {
        let header = |about: &str| json!({"description": about, "schema": {"type": "string"}});
        let Some(shape) = &route.shape.response else { return json!({"description": "success"}) };
        let content = content(&mut self.responses, shape);
        match shape {
            ContentShape::Native => json!({
                "description": "the harness's own reply, as on standard output",
                "headers": {
                    "tenterhook-exit": header("exit code of a process"),
                    "tenterhook-stderr": header("standard error of a process, percent-encoded"),
                },
                "content": content,
            }),
            ContentShape::Stream(_) => json!({
                "description": "server-sent events; the data of each is JSON of this schema",
                "content": content,
            }),
            _ => json!({"description": "success", "content": content}),
        }
    }

    fn parameters<S>(&mut self, route: &Route<S>) -> Vec<Value> {
        let names = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let in_path = names.zip(route.shape.path).map(
            |(name, kind)| json!({"name": name, "in": "path", "required": true, "schema": {"type": kind}}),
        );
        let mut parameters: Vec<_> = in_path.collect();
        if let Some(query) = &route.shape.query {
            parameters.extend(query_parameters(&mut self.requests, query));
        }
        parameters.extend(route.headers.iter().map(|HeaderParameter { name, kind, about }| {
            json!({
                "name": name, "in": "header", "required": false, "description": about,
                "schema": {"type": kind},
            })
        }));
        parameters
    }
}

/// Returns one parameter for each field of the query type.
fn query_parameters(generator: &mut SchemaGenerator, query: &TypeSchema) -> Vec<Value> {
    let schema: Schema = (query.inline)(generator);
    let required = |name: &str| {
        let list = schema.get("required").and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|one| one == name))
    };
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let parameter = |(name, field): (&String, &Value)| {
        let mut field = field.clone();
        let about = field.as_object_mut().and_then(|field| field.remove("description"));
        remove_null(&mut field);
        json!({
            "name": name, "in": "query", "required": required(name), "description": about, "schema": field,
        })
    };
    fields.map(parameter).collect()
}

/// Removes `null` from a query parameter's schema: in a query string, a parameter without a value is left out.
fn remove_null(schema: &mut Value) {
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            schema["type"] = kind;
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        if let [choice] = choices.as_slice() {
            *schema = choice.clone();
        }
    }
}

fn content(generator: &mut SchemaGenerator, shape: &ContentShape) -> Value {
    match shape {
        ContentShape::Json(schema) => json!({"application/json": {"schema": (schema.generate)(generator)}}),
        ContentShape::Stream(schema) => {
            json!({"text/event-stream": {"schema": (schema.generate)(generator)}})
        }
        ContentShape::AnyJson | ContentShape::Native => json!({"application/json": {"schema": {}}}),
        ContentShape::Yaml => json!({"application/yaml": {"schema": {}}}),
        ContentShape::Text(media) => {
            let text = |media: &&str| ((*media).to_owned(), json!({"schema": {"type": "string"}}));
            media.iter().map(text).collect::<Map<_, _>>().into()
        }
    }
}

/// Whether a request body is required. A missing body is treated as an empty object, which is enough for a type
/// without required fields.
fn is_required(generator: &mut SchemaGenerator, shape: &ContentShape) -> bool {
    let ContentShape::Json(schema) = shape else { return false };
    let schema = (schema.inline)(generator);
    schema.get("required").and_then(Value::as_array).is_some_and(|fields| !fields.is_empty())
}

fn describe_error(status: u16) -> &'static str {
    match status {
        400 => "invalid request",
        401 => "the token is missing or wrong",
        403 => "not permitted, or a proof of the user is needed",
        404 => "not found",
        409 => "conflict with the current state",
        412 => "the resource changed; reload and try again",
        422 => "the content cannot be used",
        428 => "`If-Match` is missing",
        503 => "server busy",
        _ => "internal error",
    }
}

impl OperationMethod {
    fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
        }
    }
}
