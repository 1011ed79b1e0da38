// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A rule more in the person's policy: from a decision, a template, or as somebody puts it together. Nothing is
//! changed; the text that comes back is for `PUT /v1/policy`.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_home::recorded::Recorded;
use tenterhook_home::templates::{self, Kind};
use tenterhook_home::{Failure, append_rule, draft, regular_file};
use tenterhook_ledger::Record;
use tenterhook_policy::{Layer, RuleSet, Source, rule_yaml};

use super::policy::{checked, tag};
use super::route::{Gives, Route, Takes};
use super::{read, refuse};
use crate::daemon::Daemon;

pub(super) const ROUTES: &[Route] = &[Route::post("/v1/policy/draft", "draftRule", |method| {
    on(method, make)
})
.about("The person's policy with a rule more: from a decision, a template or its parts. Nothing is changed.")
.takes(Takes::Json("DraftRequest"))
.gives(Gives::Json("Draft"))
.refuses(&[400, 404, 422])];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    seq: Option<u64>,
    want: Option<Want>,
    template: Option<String>,
    rule: Option<Value>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Want {
    Block,
    Allow,
}

async fn make(State(daemon): State<Arc<Daemon>>, body: Bytes) -> Response {
    let hint = "send {\"seq\": …, \"want\": \"block\" or \"allow\"}, {\"template\": …} or {\"rule\": …}";
    let wanted: Wanted = match read(&body, "draft", hint) {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    let from = match (wanted.seq, wanted.want, wanted.template, wanted.rule) {
        (Some(seq), Some(want), None, None) => match daemon.readers.with(move |reader| reader.get(seq)).await
        {
            Ok(Some(record)) => From::Decision(Box::new(record), want),
            Ok(None) => {
                let why = format!("there is no leaf `{seq}`");
                return refuse(StatusCode::NOT_FOUND, &why, Some("GET /v1/ledger lists them"));
            }
            Err(response) => return *response,
        },
        (None, None, Some(name), None) => From::Template(name),
        (None, None, None, Some(rule)) => From::Parts(rule),
        _ => return refuse(StatusCode::BAD_REQUEST, "what the rule is made from is not clear", Some(hint)),
    };
    match tokio::task::spawn_blocking(move || drafted(&daemon, from)).await {
        Ok(Ok(draft)) => Json(draft).into_response(),
        Ok(Err(failure)) => {
            let hint = failure.hints.first().map(String::as_str);
            refuse(StatusCode::UNPROCESSABLE_ENTITY, &failure.message, hint)
        }
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    }
}

enum From {
    Decision(Box<Record>, Want),
    Template(String),
    Parts(Value),
}

fn drafted(daemon: &Daemon, from: From) -> Result<Value, Failure> {
    let path = daemon.home.policy();
    let before = regular_file(&path)?;
    let etag = tag(before.as_deref());
    let (name, before) = (path.display().to_string(), before.unwrap_or_default());
    let rule = match from {
        From::Template(template) => {
            let template = templates::find(Kind::Rule, &template)?;
            let ids: Vec<_> = template.items().into_iter().map(|(id, _)| id).collect();
            let text = template.added_to(&name, &before)?;
            let (_, validation) = checked(daemon, text.clone());
            let yaml: String = template.items().into_iter().map(|(_, item)| item).collect();
            return Ok(json!({
                "ids": ids, "rule": null, "yaml": yaml, "before": before, "text": text, "etag": etag,
                "validation": validation,
            }));
        }
        From::Decision(record, want) => {
            let leaf = Recorded::of(&record)?;
            match want {
                Want::Block => draft::block(&leaf, record.seq, daemon.generations.person())?,
                Want::Allow => draft::allow(&leaf, record.seq)?,
            }
        }
        From::Parts(rule) => rule,
    };
    let id = rule.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let yaml = rule_yaml(&rule);
    let (text, validation) = if let Some(problems) = alone(&yaml) {
        // What is wrong with the rule itself is said in its own lines.
        (None, json!({"ok": false, "rules": [], "problems": problems, "warnings": []}))
    } else {
        let text = append_rule(&name, &before, &yaml, &id)?;
        let (_, validation) = checked(daemon, text.clone());
        (Some(text), validation)
    };
    Ok(json!({
        "ids": [id], "rule": rule, "yaml": yaml, "before": before, "text": text, "etag": etag,
        "validation": validation,
    }))
}

/// What is wrong with a rule whatever stands beside it.
fn alone(yaml: &str) -> Option<Value> {
    let list: String = yaml.lines().flat_map(|line| ["  ", line, "\n"]).collect();
    let text = format!("version: 1\nrules:\n{list}");
    let source = Source { name: "draft", text: &text, layer: Layer::User, trusted: true };
    let loaded = RuleSet::load(&[source]);
    (!loaded.problems.is_empty()).then(|| json!(loaded.problems))
}
