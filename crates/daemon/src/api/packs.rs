// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists rule packs, and switches rule packs and rules on and off.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::json;
use tenterhook_api::{RulePack, RulePackList, RuleSwitchRequest};
use tenterhook_authority::Action;
use tenterhook_error::Failure;
use tenterhook_home::packs::{PackList, built_in, count_rules};
use tenterhook_home::{RuleOverview, WorkDirs, call_meta};
use tenterhook_policy::{BuiltInPack, RuleSet};

use super::error::{ApiError, run_blocking};
use super::extract::RequestBody;
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/packs", "listPacks", list)
            .about("The rule packs, built-in and added, and which of them are on."),
        Route::post("/v1/packs/switch", "switchPack", switch)
            .about(
                "Switches a rule pack or a single rule on or off. Off needs a proof of the user; locked rules stay on.",
            )
            .errors(&[404, 409]),
    ]
}

async fn list(State(daemon): State<Arc<Daemon>>) -> Result<Json<RulePackList>, ApiError> {
    run_blocking(move || rule_packs(&daemon)).await.map(Json)
}

fn rule_packs(daemon: &Daemon) -> Result<RulePackList, Failure> {
    let list = PackList::read_for_update(&daemon.home)?;
    let built_in = RuleSet::packs().iter().map(|pack: &BuiltInPack| RulePack {
        name: pack.name.to_owned(),
        title: Some(pack.title.to_owned()),
        on: list.is_on(pack),
        from: None,
        rules: Some(count_rules(pack)),
    });
    let added = list.sources.iter().map(|added| RulePack {
        name: added.name.clone(),
        title: None,
        on: !list.is_disabled(&added.name),
        from: Some(added.from.clone()),
        rules: None,
    });
    Ok(RulePackList { packs: built_in.chain(added).collect(), disabled: list.disabled.clone() })
}

async fn switch(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(RuleSwitchRequest { name, on, proof }): RequestBody<RuleSwitchRequest>,
) -> Result<Json<RulePackList>, ApiError> {
    let _turn = daemon.change_lock.lock().await;
    let (looking, sought) = (Arc::clone(&daemon), name.clone());
    let Some((mut list, locked)) = run_blocking(move || find_pack_or_rule(&looking, &sought)).await? else {
        let message = format!("unknown rule pack or rule `{}`", tenterhook_records::sanitize(&name, 100));
        return Err(ApiError::not_found(message).hint("GET /v1/packs and GET /v1/policy list the names"));
    };
    if !on && locked {
        return Err(ApiError::conflict(format!("`{name}` is locked and cannot be switched off"))
            .hint("it was locked by the author of its policy layer"));
    }
    let before = list.clone();
    if on {
        list.enable(&name);
    } else {
        list.disable(&name);
    }
    if list != before {
        let detail = json!({"name": name, "enabled": list.enabled, "disabled": list.disabled});
        if on {
            let caller = daemon.caller(peer);
            let recorded = daemon.record_change("rules enable", caller.uid, detail, Vec::new()).await;
            recorded.map_err(|error| Failure::internal(error.to_string()))?;
        } else {
            daemon.admit(Action::RulesDisable, peer, &proof, detail, Vec::new()).await?;
        }
    }
    let changing = Arc::clone(&daemon);
    run_blocking(move || {
        list.write(&changing.home)?;
        changing.generations.refresh(true)?;
        rule_packs(&changing)
    })
    .await
    .map(Json)
}

/// Finds a rule pack or rule. Returns the list of packs and whether it is locked, or `None` if the name is unknown.
fn find_pack_or_rule(daemon: &Daemon, name: &str) -> Result<Option<(PackList, bool)>, Failure> {
    let list = PackList::read_for_update(&daemon.home)?;
    let sources = daemon.generations.sources(&WorkDirs::default());
    let packs: Vec<_> = sources
        .texts
        .iter()
        .filter(|text| text.pack.as_deref() == Some(name))
        .map(|text| &text.name)
        .collect();
    let mut meant = RuleOverview::new(&sources, call_meta::now()).rules();
    meant.retain(|rule| rule.id == name || packs.contains(&&rule.source));
    let is_pack = built_in(name).is_some() || list.find_added(name).is_some();
    if !is_pack && meant.is_empty() && !list.is_disabled(name) {
        return Ok(None);
    }
    let locked = !meant.is_empty() && meant.iter().all(|rule| rule.locked);
    Ok(Some((list, locked)))
}
