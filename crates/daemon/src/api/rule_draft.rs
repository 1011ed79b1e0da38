// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Drafts a rule for the user's policy from a decision, a template or given conditions. Nothing is changed: the
//! returned YAML is meant for `PUT /v1/policy`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::Value;
use tenterhook_api::{DraftedRule, FileProblem, PolicyValidation, RuleDraftGoal, RuleDraftRequest};
use tenterhook_error::Failure;
use tenterhook_guard::rule_draft::{deny_rule, exception_rule, objecting_rules};
use tenterhook_home::templates::{self, TemplateKind};
use tenterhook_home::{append_rule, regular_file};
use tenterhook_ledger::StoredRecord;
use tenterhook_policy::{RuleSet, RuleSource, SourceLayer, rule_yaml};
use tenterhook_records::recorded::RecordedDecision;

use super::error::ApiError;
use super::extract::RequestBody;
use super::file_problems;
use super::policy::{policy_etag, validate_text};
use super::route::Route;
use crate::daemon::Daemon;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/policy/draft", "draftRule", draft_from_request)
            .about("Drafts a rule from a decision, a template or its parts, and returns the user's policy with it. Nothing is changed.")
            .errors(&[404, 422]),
    ]
}

async fn draft_from_request(
    State(daemon): State<Arc<Daemon>>,
    RequestBody(request): RequestBody<RuleDraftRequest>,
) -> Result<Json<DraftedRule>, ApiError> {
    let from = match (request.seq, request.want, request.template, request.rule) {
        (Some(seq), Some(goal), None, None) => {
            let Some(record) = daemon.readers.with(move |reader| reader.get(seq)).await? else {
                return Err(ApiError::not_found(format!("unknown record `{seq}`"))
                    .hint("GET /v1/ledger lists the records"));
            };
            RuleDraftSource::Decision(Box::new(record), goal)
        }
        (None, None, Some(name), None) => RuleDraftSource::Template(name),
        (None, None, None, Some(rule)) => RuleDraftSource::Parts(rule),
        _ => {
            let hint =
                "send {\"seq\": …, \"want\": \"block\" or \"allow\"}, {\"template\": …} or {\"rule\": …}";
            return Err(ApiError::bad_request("the source of the rule is missing or ambiguous").hint(hint));
        }
    };
    let draft = tokio::task::spawn_blocking(move || draft_rule(&daemon, from)).await?;
    draft.map(Json).map_err(ApiError::unusable_content)
}

enum RuleDraftSource {
    Decision(Box<StoredRecord>, RuleDraftGoal),
    Template(String),
    Parts(Value),
}

fn draft_rule(daemon: &Daemon, from: RuleDraftSource) -> Result<DraftedRule, Failure> {
    let path = daemon.home.policy();
    let before = regular_file(&path)?;
    let etag = policy_etag(before.as_deref());
    let (name, before) = (path.display().to_string(), before.unwrap_or_default());
    let rule = match from {
        RuleDraftSource::Template(template) => {
            let template = templates::find(TemplateKind::Rule, &template)?;
            let (ids, items): (Vec<_>, Vec<_>) = template.rule_items().into_iter().unzip();
            let text = template.add_to(&name, &before)?;
            let validation = validate_text(daemon, text.clone());
            let (rule, yaml) = (Value::Null, items.concat());
            return Ok(DraftedRule { ids, rule, yaml, before, text: Some(text), etag, validation });
        }
        RuleDraftSource::Decision(record, goal) => {
            let leaf = RecordedDecision::from_record(&record)?;
            match goal {
                RuleDraftGoal::Block => deny_rule(&leaf, record.seq, daemon.generations.user_home())?,
                RuleDraftGoal::Allow => {
                    exception_rule(&leaf, record.seq, &objecting_rules(&leaf, record.seq)?)?
                }
            }
        }
        RuleDraftSource::Parts(rule) => rule,
    };
    let id = rule.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let yaml = rule_yaml(&rule);
    let (text, validation) = if let Some(problems) = find_rule_problems(&yaml) {
        // Problems in the rule itself have line numbers relative to the rule.
        (None, PolicyValidation { ok: false, rules: Vec::new(), problems, warnings: Vec::new() })
    } else {
        let text = append_rule(&name, &before, &yaml, &id)?;
        let validation = validate_text(daemon, text.clone());
        (Some(text), validation)
    };
    Ok(DraftedRule { ids: vec![id], rule, yaml, before, text, etag, validation })
}

/// Returns the problems in the rule itself, independent of other rules.
fn find_rule_problems(yaml: &str) -> Option<Vec<FileProblem>> {
    let list: String = yaml.lines().flat_map(|line| ["  ", line, "\n"]).collect();
    let text = format!("version: 1\nrules:\n{list}");
    let source = RuleSource { name: "draft", text: &text, layer: SourceLayer::User, trusted: true };
    let loaded = RuleSet::load(&[source]);
    (!loaded.problems.is_empty()).then(|| file_problems(&loaded.problems))
}
