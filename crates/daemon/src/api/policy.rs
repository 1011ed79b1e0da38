// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The rules: which are in force, what they say about an event, and whether a text of rules can be used.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_engine::fold::fold;
use tenterhook_event::{Event, EventKind, ToolCall};
use tenterhook_home::authority::{Action, Proof};
use tenterhook_home::{
    Place, SessionMemory, Sources, Text, View, door, make_private, regular_file, trust, write_whole,
};
use tenterhook_policy::{Layer, Rule, Surroundings};

use super::authority::refused;
use super::route::{Gives, Route, Takes, query};
use super::{failed, read, refuse};
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/policy", "getPolicy", |method| on(method, view))
        .about("The rules in force, layer by layer, what cannot be used, and the person's own text with its ETag.")
        .query(&[&[query("cwd", "string", "where an agent works: a project may have rules of its own")]])
        .gives(Gives::Json("Policy")),
    Route::put("/v1/policy", "putPolicy", |method| on(method, put))
        .about("Replaces the person's own policy, if all of it can be used. Needs a person's proof.")
        .headers(&[query("If-Match", "string", "the ETag of the text that is replaced; `\"none\"` if there is none")])
        .takes(Takes::Json("PolicyRequest"))
        .gives(Gives::Json("PolicyChanged"))
        .refuses(&[400, 403, 412, 422, 428]),
    Route::post("/v1/policy/validate", "validatePolicy", |method| on(method, validate))
        .about("Whether a text could be the person's policy: every problem with its place. Nothing is changed.")
        .takes(Takes::Text("application/yaml"))
        .gives(Gives::Json("Validation"))
        .refuses(&[400]),
    Route::post("/v1/policy/explain", "explainPolicy", |method| on(method, explain))
        .about("What the rules say about an event or a command, and why. Nothing is recorded, no hook runs.")
        .takes(Takes::Json("ExplainRequest"))
        .gives(Gives::Json("Explanation"))
        .refuses(&[400]),
];

#[derive(Deserialize)]
struct Where {
    cwd: Option<PathBuf>,
}

async fn view(State(daemon): State<Arc<Daemon>>, Query(asked): Query<Where>) -> Response {
    let place = Place::at(asked.cwd.filter(|cwd| cwd.is_absolute()));
    let shown = tokio::task::spawn_blocking(move || {
        let in_force = daemon.generations.of(&place)?;
        let own = regular_file(&daemon.home.policy()).unwrap_or_default();
        let tag = tag(own.as_deref());
        let mut shown = View::new(&in_force.sources, door::now()).all_json();
        if let Some(fields) = shown.as_object_mut() {
            fields.extend([
                ("generation".to_owned(), in_force.generation.name().into()),
                ("problems".to_owned(), json!(in_force.problems)),
                ("warnings".to_owned(), json!(in_force.warnings)),
                ("stale".to_owned(), json!(daemon.generations.base().stale)),
                ("own".to_owned(), json!({"path": daemon.home.policy(), "text": own, "etag": tag})),
            ]);
        }
        Ok((tag, shown))
    });
    match shown.await {
        Ok(Ok((tag, shown))) => ([(header::ETAG, tag)], Json(shown)).into_response(),
        Ok(Err(failure)) => failed(&failure),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    }
}

/// What stands for a text, so that two people do not overwrite each other's.
pub(super) fn tag(text: Option<&str>) -> String {
    format!("\"{}\"", text.map_or_else(|| "none".to_owned(), |text| trust::sha256(text.as_bytes())))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    text: String,
    #[serde(default)]
    proof: Proof,
}

async fn put(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let change: Change = match read(&body, "change of a policy", "send {\"text\": …, \"proof\": …}") {
        Ok(change) => change,
        Err(response) => return *response,
    };
    let Some(expected) = headers.get(header::IF_MATCH).and_then(|value| value.to_str().ok()) else {
        let hint = "send `If-Match` with the ETag of GET /v1/policy, so that nobody's change is lost";
        return refuse(StatusCode::PRECONDITION_REQUIRED, "which text is replaced was not said", Some(hint));
    };
    // One after the other: between looking and writing nobody else writes.
    let _turn = daemon.changing.lock().await;
    let (own, text) = (daemon.home.policy(), change.text.clone());
    let found = tag(regular_file(&own).unwrap_or_default().as_deref());
    if found != expected {
        let hint = "look at it again with GET /v1/policy";
        return refuse(StatusCode::PRECONDITION_FAILED, "the policy is not the one you saw", Some(hint));
    }
    let trying = Arc::clone(&daemon);
    let (ok, validation) = match tokio::task::spawn_blocking(move || checked(&trying, text)).await {
        Ok(checked) => checked,
        Err(error) => return refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    };
    if !ok {
        let error = json!({"message": "not all of it can be used", "hint": "the problems have their places"});
        let answer = Json(json!({"error": error, "validation": validation}));
        return (StatusCode::UNPROCESSABLE_ENTITY, answer).into_response();
    }
    let new = tag(Some(&change.text));
    let detail = json!({"file": own, "from": found, "to": new});
    if let Err(why) = daemon.admit(Action::PolicyChange, peer, &change.proof, detail, Vec::new()).await {
        return refused(&why);
    }
    let written = tokio::task::spawn_blocking({
        let daemon = Arc::clone(&daemon);
        move || {
            make_private(&daemon.home.config)?;
            write_whole(&own, change.text.as_bytes(), 0o600)?;
            daemon.generations.refresh(true)
        }
    });
    match written.await {
        Ok(Ok(_)) => {
            let generation = daemon.generations.base().generation.name().to_owned();
            let answer = json!({"etag": new, "generation": generation, "validation": validation});
            ([(header::ETAG, new)], Json(answer)).into_response()
        }
        Ok(Err(failure)) => failed(&failure),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    }
}

async fn validate(State(daemon): State<Arc<Daemon>>, body: Bytes) -> Response {
    let Ok(text) = String::from_utf8(body.into()) else {
        return refuse(StatusCode::BAD_REQUEST, "the text is not UTF-8", None);
    };
    match tokio::task::spawn_blocking(move || checked(&daemon, text)).await {
        Ok((_, answer)) => Json(answer).into_response(),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    }
}

/// Tries a text in the place of the person's own, with its examples. Says whether all of it can be used.
pub(super) fn checked(daemon: &Daemon, text: String) -> (bool, Value) {
    let name = daemon.home.policy().display().to_string();
    let mut sources = daemon.generations.sources(&Place::default());
    replace(&mut sources, &name, text);
    let loaded = sources.load();
    let problems: Vec<_> = loaded.problems.iter().filter(|problem| problem.source == name).collect();
    let warnings = loaded.rules.warnings(door::now());
    let warnings: Vec<_> = warnings.iter().filter(|warning| warning.source == name).collect();
    let rules: Vec<_> = loaded.rules.rules().filter(|rule| rule.source() == name).map(Rule::id).collect();
    let ok = problems.is_empty();
    (ok, json!({"ok": ok, "rules": rules, "problems": problems, "warnings": warnings}))
}

/// Puts a text in the place of the person's own.
pub(super) fn replace(sources: &mut Sources, name: &str, yaml: String) {
    let yaml = Cow::Owned(yaml);
    if let Some(own) = sources.texts.iter_mut().find(|text| text.name == name) {
        own.yaml = yaml;
        return;
    }
    let at =
        sources.texts.iter().position(|text| text.layer == Layer::Project).unwrap_or(sources.texts.len());
    let standing = trust::Standing::Trusted;
    sources.texts.insert(at, Text { name: name.to_owned(), yaml, layer: Layer::User, standing, pack: None });
}

/// What to explain: an event, or a command, or a call of a tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    event: Option<Event>,
    command: Option<String>,
    tool: Option<Tool>,
    cwd: Option<String>,
    /// Rules that do not match as well.
    #[serde(default)]
    all: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    name: String,
    #[serde(default)]
    args: Value,
}

async fn explain(State(daemon): State<Arc<Daemon>>, body: Bytes) -> Response {
    let hint = "send {\"command\": …, \"cwd\": …}, {\"tool\": {\"name\": …, \"args\": …}} or {\"event\": …}";
    let question: Question = match read(&body, "question", hint) {
        Ok(question) => question,
        Err(response) => return *response,
    };
    let all = question.all;
    let event = match question.event() {
        Ok(Some(event)) => event,
        Ok(None) => return refuse(StatusCode::BAD_REQUEST, "there is nothing to explain", Some(hint)),
        Err(failure) => return failed(&failure),
    };
    match tokio::task::spawn_blocking(move || explained(&daemon, &event, all)).await {
        Ok(Ok(explanation)) => Json(explanation).into_response(),
        Ok(Err(failure)) => failed(&failure),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    }
}

impl Question {
    fn event(self) -> Result<Option<Event>, tenterhook_home::Failure> {
        let tool = match (self.event, self.command, self.tool) {
            (Some(event), None, None) => return Ok(Some(event)),
            (None, Some(command), None) => ToolCall::new("Bash", json!({"command": command})),
            (None, None, Some(Tool { name, args })) => ToolCall::new(&name, args),
            _ => return Ok(None),
        };
        let door = door::mint()?;
        let mut event = Event::new(door.id, door.ts, "tenterhook", EventKind::PreTool, "PreToolUse");
        (event.cwd, event.project, event.tool) = (self.cwd.clone(), self.cwd, Some(tool));
        Ok(Some(event))
    }
}

fn explained(daemon: &Daemon, event: &Event, all: bool) -> Result<Value, tenterhook_home::Failure> {
    let in_force = daemon.generations.of(&Place::of(event))?;
    let rules = in_force.sources.load().rules;
    let person = daemon.generations.person();
    let around = Surroundings { home: person, programs: rules.programs(), ..Surroundings::default() };
    let facts = tenterhook_home::seen::facts(event, &around);
    let memory = SessionMemory::looking(Some(tenterhook_home::Sessions::new(daemon.home.sessions())));
    let state = memory.look(event, &rules);
    let outcome = fold(event, &tenterhook_policy::judge(event, &facts, &state, &rules).findings);
    let mut notes = tenterhook_policy::explain(event, &facts, &state, &rules);
    let considered = notes.len();
    notes.retain(|note| all || note.matched);
    Ok(json!({
        "verdict": outcome.decision,
        "rule": outcome.deciding_rule(),
        "reason": outcome.reason(),
        "says": outcome.reason_with_nudge(),
        "outcome": outcome,
        "considered": considered,
        "rules": notes,
        "facts": facts,
        "generation": in_force.generation.name(),
        "event": event,
    }))
}
