// SPDX-License-Identifier: Apache-2.0 OR MIT

use axum::Json;
use axum::routing::on;
use serde_json::{Value, json};
use tenterhook_home::templates::{TEMPLATES, Template};

use super::route::{Gives, Route};

pub(super) const ROUTES: &[Route] =
    &[Route::get("/v1/templates", "listTemplates", |method| on(method, list))
        .about("Hooks and rules to begin with, with all their files.")
        .gives(Gives::Json("Templates"))];

async fn list() -> Json<Value> {
    let all: Vec<_> = TEMPLATES.iter().map(Template::to_json).collect();
    Json(json!({"templates": all}))
}
