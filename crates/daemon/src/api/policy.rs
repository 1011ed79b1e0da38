// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shows the rules in force, replaces the user's policy, validates a policy and explains decisions.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::{Extension, Json};
use serde_json::json;
use tenterhook_api::{
    ExplainRequest, ExplainTool, Explanation, PolicyChanged, PolicyQuery, PolicyRequest, PolicyText,
    PolicyValidation, PolicyView, RuleExplanation,
};
use tenterhook_authority::Action;
use tenterhook_engine::fold::fold;
use tenterhook_error::Failure;
use tenterhook_event::{Event, EventKind, ToolCall};
use tenterhook_guard::{SessionMemory, SessionStateDir};
use tenterhook_home::{
    RuleOverview, SourceFile, Sources, WorkDirs, call_meta, make_private_dir, regular_file, trust,
    write_atomic,
};
use tenterhook_policy::{EvalEnvironment, Rule, RuleNote, SourceLayer, find_weakenings};

use super::error::{ApiError, run_blocking};
use super::extract::{QueryParams, RequestBody, YamlText};
use super::file_problems;
use super::route::{HeaderParameter, Route};
use crate::daemon::Daemon;
use crate::listen::Peer;

const IF_MATCH: &[HeaderParameter] = &[HeaderParameter {
    name: "If-Match",
    kind: "string",
    about: "ETag of the text that is replaced; `\"none\"` if there is no text",
}];

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/policy", "getPolicy", view).about(
            "The rules in force by layer, their problems, and the text of the user's policy with its ETag.",
        ),
        Route::put("/v1/policy", "putPolicy", put)
            .about("Replaces the user's policy, unless a rule in it cannot be used. Needs a proof of the user.")
            .headers(IF_MATCH)
            .errors(&[412, 422, 428]),
        Route::post("/v1/policy/validate", "validatePolicy", validate)
            .about("Checks a text as the user's policy and returns every problem with its position. Nothing is changed."),
        Route::post("/v1/policy/explain", "explainPolicy", explain).about(
            "Explains what the rules decide about an event or a command. Nothing is recorded, and no hook runs.",
        ),
    ]
}

/// Response type with the ETag of the user's policy.
type WithEtag<T> = ([(HeaderName, String); 1], Json<T>);

async fn view(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(PolicyQuery { cwd }): QueryParams<PolicyQuery>,
) -> Result<WithEtag<PolicyView>, ApiError> {
    let place = WorkDirs::at(cwd.map(PathBuf::from).filter(|cwd| cwd.is_absolute()));
    let policy = run_blocking(move || policy_view(&daemon, &place)).await?;
    Ok(([(header::ETAG, policy.own.etag.clone())], Json(policy)))
}

fn policy_view(daemon: &Daemon, place: &WorkDirs) -> Result<PolicyView, Failure> {
    let active = daemon.generations.active_for(place)?;
    // If the file cannot be read, it is listed under `problems`, and PUT refuses to replace it.
    let own = regular_file(&daemon.home.policy()).unwrap_or_default();
    let shown = RuleOverview::new(&active.sources, call_meta::now());
    Ok(PolicyView {
        layers: shown.layers(),
        rules: shown.rules(),
        problems: file_problems(&active.problems),
        warnings: file_problems(&active.warnings),
        stale: file_problems(&daemon.generations.base().stale),
        generation: active.generation.name().to_owned(),
        own: PolicyText {
            path: daemon.home.policy().display().to_string(),
            etag: policy_etag(own.as_deref()),
            text: own,
        },
    })
}

/// Returns the ETag of a policy. It prevents two users from overwriting each other's changes.
pub(super) fn policy_etag(text: Option<&str>) -> String {
    format!("\"{}\"", text.map_or_else(|| "none".to_owned(), |text| trust::sha256(text.as_bytes())))
}

async fn put(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    RequestBody(PolicyRequest { text, proof }): RequestBody<PolicyRequest>,
) -> Result<WithEtag<PolicyChanged>, ApiError> {
    let Some(expected) = headers.get(header::IF_MATCH).and_then(|value| value.to_str().ok()) else {
        let hint = "send `If-Match` with the ETag of GET /v1/policy, so that no change is lost";
        let error = ApiError::new(StatusCode::PRECONDITION_REQUIRED, "`If-Match` is missing");
        return Err(error.hint(hint));
    };
    // The policy must not change between reading and writing it.
    let _turn = daemon.change_lock.lock().await;
    let own = daemon.home.policy();
    let found = regular_file(&own).map_err(Failure::from)?;
    let found = policy_etag(found.as_deref());
    if found != expected {
        let error = ApiError::new(StatusCode::PRECONDITION_FAILED, "the policy changed since it was read");
        return Err(error.hint("reload it with GET /v1/policy and try again"));
    }
    let (trying, tried) = (Arc::clone(&daemon), text.clone());
    let (validation, weakens) = tokio::task::spawn_blocking(move || {
        let weakens = describe_weakening(&trying, tried.clone());
        (validate_text(&trying, tried), weakens)
    })
    .await?;
    if !validation.ok {
        return Err(ApiError::unusable_policy().validation(validation));
    }
    let etag = policy_etag(Some(&text));
    let mut detail = json!({"file": own, "from": found, "to": etag});
    if let Some(detail) = detail.as_object_mut().filter(|_| !weakens.is_empty()) {
        detail.insert("weakens".to_owned(), weakens.into());
    }
    daemon.admit(Action::PolicyChange, peer, &proof, detail, Vec::new()).await?;
    let writing = Arc::clone(&daemon);
    run_blocking(move || {
        make_private_dir(&writing.home.config)?;
        write_atomic(&own, text.as_bytes(), 0o600)?;
        writing.generations.refresh(true)
    })
    .await?;
    let generation = daemon.generations.base().generation.name().to_owned();
    Ok(([(header::ETAG, etag.clone())], Json(PolicyChanged { etag, generation, validation })))
}

async fn validate(
    State(daemon): State<Arc<Daemon>>,
    YamlText(text): YamlText,
) -> Result<Json<PolicyValidation>, ApiError> {
    Ok(Json(tokio::task::spawn_blocking(move || validate_text(&daemon, text)).await?))
}

/// Validates a string as the user's policy and runs its examples.
pub(super) fn validate_text(daemon: &Daemon, text: String) -> PolicyValidation {
    let name = daemon.home.policy().display().to_string();
    let mut sources = daemon.generations.sources(&WorkDirs::default());
    replace_user_policy(&mut sources, &name, text);
    let loaded = sources.load();
    let problems = file_problems(loaded.problems.iter().filter(|problem| problem.source == name));
    let warnings = loaded.rules.warnings(call_meta::now());
    let rules = loaded.rules.rules().filter(|rule| rule.source() == name).map(Rule::id);
    PolicyValidation {
        ok: problems.is_empty(),
        rules: rules.map(ToOwned::to_owned).collect(),
        problems,
        warnings: file_problems(warnings.iter().filter(|warning| warning.source == name)),
    }
}

/// Returns how a text in place of the user's policy would weaken protection, for the record of the change.
fn describe_weakening(daemon: &Daemon, text: String) -> Vec<String> {
    let mut sources = daemon.generations.sources(&WorkDirs::default());
    let before = sources.load().rules;
    replace_user_policy(&mut sources, &daemon.home.policy().display().to_string(), text);
    let found = find_weakenings(&before, &sources.load().rules, call_meta::now());
    found.iter().map(ToString::to_string).collect()
}

/// Replaces the user's policy in these sources.
pub(super) fn replace_user_policy(sources: &mut Sources, name: &str, yaml: String) {
    let yaml = Cow::Owned(yaml);
    if let Some(own) = sources.texts.iter_mut().find(|text| text.name == name) {
        own.yaml = yaml;
        return;
    }
    let at = sources
        .texts
        .iter()
        .position(|text| text.layer == SourceLayer::Project)
        .unwrap_or(sources.texts.len());
    let standing = trust::Standing::Trusted;
    let file = SourceFile { name: name.to_owned(), yaml, layer: SourceLayer::User, standing, pack: None };
    sources.texts.insert(at, file);
}

async fn explain(
    State(daemon): State<Arc<Daemon>>,
    RequestBody(request): RequestBody<ExplainRequest>,
) -> Result<Json<Explanation>, ApiError> {
    let all = request.all;
    let event = explained_event(request)?;
    run_blocking(move || explanation(&daemon, event, all)).await.map(Json)
}

/// Builds the event whose decision is explained.
fn explained_event(request: ExplainRequest) -> Result<Event, ApiError> {
    let tool = match (request.event, request.command, request.tool) {
        (Some(event), None, None) => return Ok(event),
        (None, Some(command), None) => ToolCall::new("Bash", json!({"command": command})),
        (None, None, Some(ExplainTool { name, args })) => ToolCall::new(&name, args),
        _ => {
            let hint =
                "send {\"command\": …, \"cwd\": …}, {\"tool\": {\"name\": …, \"args\": …}} or {\"event\": …}";
            return Err(ApiError::bad_request("`event`, `command` or `tool` is missing").hint(hint));
        }
    };
    let meta = call_meta::mint()?;
    let mut event = Event::new(meta.id, meta.ts, "tenterhook", EventKind::PreTool, "PreToolUse");
    (event.cwd, event.project, event.tool) = (request.cwd.clone(), request.cwd, Some(tool));
    Ok(event)
}

fn explanation(daemon: &Daemon, event: Event, all: bool) -> Result<Explanation, Failure> {
    let active = daemon.generations.active_for(&WorkDirs::of(&event))?;
    let rules = active.sources.load().rules;
    let person = daemon.generations.user_home();
    let around = EvalEnvironment { home: person, programs: rules.programs(), ..EvalEnvironment::default() };
    let facts = tenterhook_guard::symlinks::collect_facts(&event, &around);
    let memory = SessionMemory::read_only(Some(SessionStateDir::new(daemon.home.sessions())));
    let state = memory.state_of(&event, &rules);
    let outcome = fold(&event, &tenterhook_policy::judge(&event, &facts, &state, &rules).findings);
    let mut notes = tenterhook_policy::explain(&event, &facts, &state, &rules);
    let considered = notes.len();
    notes.retain(|note| all || note.matched);
    Ok(Explanation {
        verdict: outcome.decision,
        rule: outcome.deciding_rule().map(ToOwned::to_owned),
        reason: outcome.reason(),
        says: outcome.reason_with_nudge(),
        outcome,
        considered,
        rules: notes.into_iter().map(rule_explanation).collect(),
        facts: serde_json::to_value(&facts).map_err(std::io::Error::from)?,
        generation: active.generation.name().to_owned(),
        event,
    })
}

fn rule_explanation(note: RuleNote) -> RuleExplanation {
    let RuleNote { rule, matched, counts, verdict, why } = note;
    RuleExplanation { rule, matched, counts, verdict, why }
}
