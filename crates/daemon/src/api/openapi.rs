// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The OpenAPI document, made of the routes and of the schemas beside this file.

use axum::Json;
use axum::routing::on;
use serde_json::{Map, Value, json};

use super::ROUTES as ALL;
use super::route::{Gives, Query, Route, Takes};

pub(super) const ROUTES: &[Route] =
    &[Route::get("/v1/openapi.json", "getOpenapi", |method| on(method, || async { Json(document()) }))
        .about("This document.")];

/// What answers look like.
const SCHEMAS: &str = include_str!("schemas.json");
/// What is generated from the types themselves.
const GENERATED: &[(&str, &str)] = &[
    ("Event", include_str!("../../../../docs/spec/event.schema.json")),
    ("Outcome", include_str!("../../../../docs/spec/outcome.schema.json")),
];

const ABOUT: &str = "One hook system for every AI agent: this is what its daemon answers, over HTTP on \
    `127.0.0.1:7878` with the token of the home (`run/token`), and without it on the Unix socket of the home.";

/// The whole document.
pub fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for (tag, routes) in ALL {
        for route in *routes {
            let path = paths.entry(route.path).or_insert_with(|| json!({}));
            if let Some(path) = path.as_object_mut() {
                path.insert(route.method.word().to_owned(), operation(tag, route));
            }
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
            "schemas": schemas(),
        },
    })
}

fn operation(tag: &str, route: &Route) -> Value {
    let in_path = route
        .parameters()
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}));
    let placed = |place: &'static str| {
        move |query: &Query| {
            json!({
                "name": query.name, "in": place, "required": false, "description": query.about,
                "schema": {"type": query.kind},
            })
        }
    };
    let in_query = route.query.iter().copied().flatten().map(placed("query"));
    let in_head = route.headers.iter().map(placed("header"));
    let parameters: Vec<_> = in_path.chain(in_query).chain(in_head).collect();
    let mut answers = Map::new();
    answers.insert(route.status.to_string(), answer(&route.gives));
    for status in route.refuses {
        let content = json!({"application/json": {"schema": reference("Error")}});
        answers.insert(status.to_string(), json!({"description": refusal(*status), "content": content}));
    }
    let mut operation = json!({
        "operationId": route.id,
        "tags": [tag],
        "summary": route.about,
        "responses": answers,
    });
    if let Some(operation) = operation.as_object_mut() {
        if !parameters.is_empty() {
            operation.insert("parameters".to_owned(), parameters.into());
        }
        if let Some(takes) = &route.takes {
            operation.insert("requestBody".to_owned(), json!({"content": body(takes)}));
        }
        if route.path == super::HEALTH {
            operation.insert("security".to_owned(), json!([{}, {"token": []}]));
        }
    }
    operation
}

fn body(takes: &Takes) -> Value {
    match takes {
        Takes::Json(schema) => json!({"application/json": {"schema": reference(schema)}}),
        Takes::Native => json!({"application/json": {"schema": reference("Anything")}}),
        Takes::Text(media) => json!({*media: {"schema": {"type": "string"}}}),
    }
}

fn answer(gives: &Gives) -> Value {
    let header = |about: &str| json!({"description": about, "schema": {"type": "string"}});
    match gives {
        Gives::Json(schema) => {
            json!({"description": "done", "content": {"application/json": {"schema": reference(schema)}}})
        }
        Gives::Stream(schema) => json!({
            "description": "server-sent events; the data of each is JSON of this schema",
            "content": {"text/event-stream": {"schema": reference(schema)}},
        }),
        Gives::Text(media) => {
            json!({"description": "done", "content": {*media: {"schema": {"type": "string"}}}})
        }
        Gives::Native => json!({
            "description": "the harness's own reply, as it would stand on standard output",
            "headers": {
                "tenterhook-exit": header("the exit code that a process would end with"),
                "tenterhook-stderr": header("what would stand on standard error, percent-encoded"),
            },
            "content": {"application/json": {"schema": reference("Anything")}},
        }),
    }
}

fn refusal(status: u16) -> &'static str {
    match status {
        400 => "what was sent cannot be used",
        403 => "this needs a person's proof",
        404 => "there is no such thing",
        409 => "it is not what it was",
        412 => "somebody else changed it meanwhile",
        422 => "not all of it can be used",
        428 => "`If-Match` is missing",
        503 => "there is too much to do",
        _ => "it was refused",
    }
}

fn reference(schema: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

/// Our own schemas, and the generated ones with all they refer to.
fn schemas() -> Value {
    let mut all: Map<String, Value> = serde_json::from_str(SCHEMAS).unwrap_or_default();
    for (name, text) in GENERATED {
        let mut schema: Value = serde_json::from_str(text).unwrap_or_default();
        moved(&mut schema);
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("$schema");
            if let Some(Value::Object(parts)) = schema.remove("$defs") {
                all.extend(parts);
            }
        }
        all.insert((*name).to_owned(), schema);
    }
    all.into()
}

/// Parts of a schema move to where the document has them.
fn moved(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(moved),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if key == "$ref" => {
                        *text = text.replace("#/$defs/", "#/components/schemas/");
                    }
                    value => moved(value),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value {
                        Value::String(text) if key == "$ref" => {
                            found.insert(text.clone());
                        }
                        value => references(value, found),
                    }
                }
            }
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_schema_is_used() {
        let document = document();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for reference in &found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        for name in document["components"]["schemas"].as_object().unwrap().keys() {
            assert!(found.contains(&format!("#/components/schemas/{name}")), "nobody uses {name}");
        }
    }

    #[test]
    fn no_schema_takes_the_name_of_another() {
        let own: Map<String, Value> = serde_json::from_str(SCHEMAS).unwrap();
        for (name, text) in GENERATED {
            let schema: Value = serde_json::from_str(text).unwrap();
            let parts = schema["$defs"].as_object().unwrap().keys().map(String::as_str);
            for name in parts.chain([*name]) {
                assert!(!own.contains_key(name), "{name} is a generated one");
            }
        }
    }

    #[test]
    fn every_operation_has_a_name_of_its_own_and_says_what_it_is_for() {
        let mut names = BTreeSet::new();
        for route in ALL.iter().flat_map(|(_, routes)| *routes) {
            assert!(names.insert(route.id), "{} twice", route.id);
            assert!(route.about.len() > 10 && route.about.ends_with('.'), "{}", route.path);
        }
    }
}
