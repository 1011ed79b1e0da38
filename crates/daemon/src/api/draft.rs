// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Drafts a rule for the user's policy: from a decision, a template, or from given conditions. Nothing is changed; the
//! returned text is meant for `PUT /v1/policy`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::Value;
use tenterhook_api::{FileProblem, PolicyValidation, RuleDraft, RuleDraftGoal, RuleDraftRequest};
use tenterhook_error::Failure;
use tenterhook_guard::draft;
use tenterhook_home::templates::{self, Kind};
use tenterhook_home::{append_rule, regular_file};
use tenterhook_ledger::StoredRecord;
use tenterhook_policy::{RuleSet, RuleSource, SourceLayer, rule_yaml};
use tenterhook_records::recorded::RecordedDecision;

use super::error::ApiError;
use super::extract::RequestBody;
use super::file_problems;
use super::policy::{tag, validated};
use super::route::Route;
use crate::daemon::Daemon;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/policy/draft", "draftRule", make)
            .about("The user's policy with a rule more: from a decision, a template or its parts. Nothing is changed.")
            .errors(&[404, 422]),
    ]
}

async fn make(
    State(daemon): State<Arc<Daemon>>,
    RequestBody(request): RequestBody<RuleDraftRequest>,
) -> Result<Json<RuleDraft>, ApiError> {
    let from = match (request.seq, request.want, request.template, request.rule) {
        (Some(seq), Some(goal), None, None) => {
            let Some(record) = daemon.readers.with(move |reader| reader.get(seq)).await? else {
                return Err(ApiError::not_found(format!("there is no leaf `{seq}`"))
                    .hint("GET /v1/ledger lists them"));
            };
            From::Decision(Box::new(record), goal)
        }
        (None, None, Some(name), None) => From::Template(name),
        (None, None, None, Some(rule)) => From::Parts(rule),
        _ => {
            let hint =
                "send {\"seq\": …, \"want\": \"block\" or \"allow\"}, {\"template\": …} or {\"rule\": …}";
            return Err(ApiError::bad_request("what the rule is made from is not clear").hint(hint));
        }
    };
    let draft = tokio::task::spawn_blocking(move || drafted(&daemon, from)).await?;
    draft.map(Json).map_err(ApiError::unusable_content)
}

enum From {
    Decision(Box<StoredRecord>, RuleDraftGoal),
    Template(String),
    Parts(Value),
}

fn drafted(daemon: &Daemon, from: From) -> Result<RuleDraft, Failure> {
    let path = daemon.home.policy();
    let before = regular_file(&path)?;
    let etag = tag(before.as_deref());
    let (name, before) = (path.display().to_string(), before.unwrap_or_default());
    let rule = match from {
        From::Template(template) => {
            let template = templates::find(Kind::Rule, &template)?;
            let (ids, items): (Vec<_>, Vec<_>) = template.items().into_iter().unzip();
            let text = template.added_to(&name, &before)?;
            let validation = validated(daemon, text.clone());
            let (rule, yaml) = (Value::Null, items.concat());
            return Ok(RuleDraft { ids, rule, yaml, before, text: Some(text), etag, validation });
        }
        From::Decision(record, goal) => {
            let leaf = RecordedDecision::from_record(&record)?;
            match goal {
                RuleDraftGoal::Block => draft::block(&leaf, record.seq, daemon.generations.person())?,
                RuleDraftGoal::Allow => draft::allow(&leaf, record.seq)?,
            }
        }
        From::Parts(rule) => rule,
    };
    let id = rule.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let yaml = rule_yaml(&rule);
    let (text, validation) = if let Some(problems) = own_problems(&yaml) {
        // What is wrong with the rule itself is said in its own lines.
        (None, PolicyValidation { ok: false, rules: Vec::new(), problems, warnings: Vec::new() })
    } else {
        let text = append_rule(&name, &before, &yaml, &id)?;
        let validation = validated(daemon, text.clone());
        (Some(text), validation)
    };
    Ok(RuleDraft { ids: vec![id], rule, yaml, before, text, etag, validation })
}

/// Problems of the rule itself, independent of other rules.
fn own_problems(yaml: &str) -> Option<Vec<FileProblem>> {
    let list: String = yaml.lines().flat_map(|line| ["  ", line, "\n"]).collect();
    let text = format!("version: 1\nrules:\n{list}");
    let source = RuleSource { name: "draft", text: &text, layer: SourceLayer::User, trusted: true };
    let loaded = RuleSet::load(&[source]);
    (!loaded.problems.is_empty()).then(|| file_problems(&loaded.problems))
}
