// SPDX-License-Identifier: Apache-2.0 OR MIT

use axum::Json;
use tenterhook_api::TemplateList;
use tenterhook_home::templates::{TEMPLATES, Template};

use super::route::Route;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/templates", "listTemplates", list)
            .about("Hook packages and rules to start from, with all their files."),
    ]
}

async fn list() -> Json<TemplateList> {
    Json(TemplateList { templates: TEMPLATES.iter().map(Template::info).collect() })
}
