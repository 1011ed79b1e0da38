// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shows what rules look for: the text of a rule, and the descriptions of programs.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use tenterhook_api::{ProgramList, WrittenRule};
use tenterhook_error::Failure;
use tenterhook_home::{RuleOverview, WorkDirs, call_meta};
use tenterhook_records::sanitize;

use super::error::{ApiError, run_blocking};
use super::extract::PathParams;
use super::file_problems;
use super::route::Route;
use crate::daemon::Daemon;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/policy/rules/{id}", "getRuleText", rule_text)
            .about("A rule as it is written in its file, and in words: what it matches, and its examples.")
            .errors(&[404]),
        Route::get("/v1/policy/programs", "listPrograms", list_programs)
            .about("The programs whose arguments rules understand: built-in ones, and the files that describe others."),
    ]
}

async fn rule_text(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<Json<WrittenRule>, ApiError> {
    let wanted = id.clone();
    let found = run_blocking(move || -> Result<_, Failure> {
        let active = daemon.generations.active_for(&WorkDirs::default())?;
        Ok(RuleOverview::new(&active.sources, call_meta::now()).rule_text(&wanted))
    });
    let unknown = || ApiError::not_found(format!("unknown rule `{}`", sanitize(&id, 100)));
    found.await?.map(Json).ok_or_else(unknown)
}

async fn list_programs(State(daemon): State<Arc<Daemon>>) -> Result<Json<ProgramList>, ApiError> {
    let programs = run_blocking(move || -> Result<_, Failure> {
        let active = daemon.generations.active_for(&WorkDirs::default())?;
        let (files, builtin) = RuleOverview::new(&active.sources, call_meta::now()).programs();
        let is_description = |source: &str| active.sources.programs.iter().any(|file| file.name == source);
        let problems = active.problems.iter().filter(|problem| is_description(&problem.source));
        Ok(ProgramList { files, problems: file_problems(problems), builtin })
    });
    programs.await.map(Json)
}
