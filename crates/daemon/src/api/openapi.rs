// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The OpenAPI document. It is generated from the routes (feature `schema`, `make generate`) and checked in; the
//! daemon serves that file.

use super::route::Route;
use super::shape::JsonText;

/// The document as it is checked in; a test compares it with what is generated.
const DOCUMENT: &str = include_str!("../../../../docs/reference/openapi.json");

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get("/v1/openapi.json", "getOpenapi", get).about("This document.")]
}

async fn get() -> JsonText {
    JsonText(DOCUMENT)
}
