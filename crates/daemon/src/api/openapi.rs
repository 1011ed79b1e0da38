// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Serves the OpenAPI document, which `make generate` generates from the routes (feature `schema`).

use super::route::Route;
use super::shape::JsonText;

/// The checked-in document; a test compares it with the generated one.
const DOCUMENT: &str = include_str!("../../../../docs/reference/openapi.json");

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get("/v1/openapi.json", "getOpenapi", get).about("This document.")]
}

async fn get() -> JsonText {
    JsonText(DOCUMENT)
}

/// Generates the document from the routes.
#[cfg(feature = "schema")]
pub fn document() -> serde_json::Value {
    tenterhook_api_routes::openapi::document(super::groups(), super::HEALTH_PATH)
}

#[cfg(all(test, feature = "schema"))]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

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
            assert!(found.contains(&format!("#/components/schemas/{name}")), "no operation uses {name}");
        }
    }

    #[test]
    fn no_schema_takes_the_name_of_another() {
        let document = document();
        let names = document["components"]["schemas"].as_object().unwrap().keys();
        // `Said2` is one generic type with two kinds of content.
        for name in names.filter(|name| *name != "Said2") {
            // schemars adds a number to a second type with the same name.
            assert!(!name.ends_with(|last: char| last.is_ascii_digit()), "{name} is the name of two types");
        }
    }

    #[test]
    fn every_operation_has_a_name_of_its_own_and_says_what_it_is_for() {
        let mut names = BTreeSet::new();
        for route in crate::api::groups().into_iter().flat_map(|(_, routes)| routes) {
            assert!(names.insert(route.id), "{} twice", route.id);
            assert!(route.about.len() > 10 && route.about.ends_with('.'), "{}", route.path);
        }
    }

    #[test]
    fn every_variable_part_of_a_path_has_a_type() {
        for route in crate::api::groups().into_iter().flat_map(|(_, routes)| routes) {
            assert_eq!(route.path.matches('{').count(), route.shape.path.len(), "{}", route.path);
        }
    }
}
