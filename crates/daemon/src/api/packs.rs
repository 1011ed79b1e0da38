// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Packs and rules that are on or off.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_home::authority::{Action, Proof};
use tenterhook_home::packs::{PackList, compiled_in, rules_in};
use tenterhook_home::{Failure, Place, View, door};
use tenterhook_policy::{Pack, RuleSet};

use super::authority::refused;
use super::route::{Gives, Route, Takes};
use super::{failed, read, refuse};
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/packs", "listPacks", |method| on(method, list))
        .about("The packs of rules that are compiled in or were added, and which of them are on.")
        .gives(Gives::Json("Packs")),
    Route::post("/v1/packs/switch", "switchPack", |method| on(method, switch))
        .about(
            "Turns a pack or a single rule on or off. Off needs a person's proof; what is locked stays on.",
        )
        .takes(Takes::Json("PackSwitchRequest"))
        .gives(Gives::Json("Packs"))
        .refuses(&[400, 403, 404, 409]),
];

async fn list(State(daemon): State<Arc<Daemon>>) -> Response {
    match tokio::task::spawn_blocking(move || listed(&daemon)).await {
        Ok(Ok(packs)) => Json(packs).into_response(),
        Ok(Err(failure)) => failed(&failure),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    }
}

fn listed(daemon: &Daemon) -> Result<Value, Failure> {
    let list = PackList::read_to_change(&daemon.home)?;
    let one = |pack: &Pack| {
        let rules = rules_in(pack);
        json!({"name": pack.name, "title": pack.title, "on": list.is_on(pack), "from": null, "rules": rules})
    };
    let mut packs: Vec<_> = RuleSet::packs().iter().map(one).collect();
    packs.extend(list.sources.iter().map(|added| {
        let on = !list.is_disabled(&added.name);
        json!({"name": added.name, "title": null, "on": on, "from": added.from, "rules": null})
    }));
    Ok(json!({"packs": packs, "disabled": list.disabled}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    name: String,
    on: bool,
    #[serde(default)]
    proof: Proof,
}

async fn switch(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Response {
    let hint = "send {\"name\": …, \"on\": …, \"proof\": …}";
    let Wanted { name, on, proof } = match read(&body, "switch of a pack", hint) {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    let _turn = daemon.changing.lock().await;
    let (looking, sought) = (Arc::clone(&daemon), name.clone());
    let found = match tokio::task::spawn_blocking(move || known(&looking, &sought)).await {
        Ok(Ok(found)) => found,
        Ok(Err(failure)) => return failed(&failure),
        Err(error) => return refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    };
    let Some((mut list, locked)) = found else {
        let message = format!("there is no pack and no rule `{}`", crate::sessions::clean(&name, 100));
        return refuse(StatusCode::NOT_FOUND, &message, Some("GET /v1/packs and GET /v1/policy list them"));
    };
    if !on && locked {
        let message = format!("`{name}` is locked and cannot be turned off");
        return refuse(
            StatusCode::CONFLICT,
            &message,
            Some("whoever wrote the layer it belongs to locked it"),
        );
    }
    let before = list.clone();
    if on {
        list.turn_on(&name);
    } else {
        list.turn_off(&name);
    }
    if list != before {
        let detail = json!({"name": name, "enabled": list.enabled, "disabled": list.disabled});
        let recorded = if on {
            let caller = daemon.caller(peer);
            daemon.change("rules enable", caller.uid, detail, Vec::new()).await.map_err(Failure::failed)
        } else {
            match daemon.admit(Action::RulesDisable, peer, &proof, detail, Vec::new()).await {
                Ok(_) => Ok(()),
                Err(why) => return refused(&why),
            }
        };
        if let Err(failure) = recorded {
            return failed(&failure);
        }
    }
    let changing = Arc::clone(&daemon);
    let done = tokio::task::spawn_blocking(move || {
        list.write(&changing.home)?;
        changing.generations.refresh(true)?;
        listed(&changing)
    });
    match done.await {
        Ok(Ok(packs)) => Json(packs).into_response(),
        Ok(Err(failure)) => failed(&failure),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    }
}

/// The list, if there is such a pack or rule; and whether all of it is locked.
fn known(daemon: &Daemon, name: &str) -> Result<Option<(PackList, bool)>, Failure> {
    let list = PackList::read_to_change(&daemon.home)?;
    let sources = daemon.generations.sources(&Place::default());
    let packs: Vec<_> = sources
        .texts
        .iter()
        .filter(|text| text.pack.as_deref() == Some(name))
        .map(|text| &text.name)
        .collect();
    let all = View::new(&sources, door::now()).all_json();
    let rules = all.get("rules").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |rule: &Value, key: &str| rule.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let meant: Vec<_> = rules
        .iter()
        .filter(|rule| text(rule, "id") == name || packs.iter().any(|pack| **pack == text(rule, "source")))
        .collect();
    let is_pack = compiled_in(name).is_some() || list.added(name).is_some();
    if !is_pack && meant.is_empty() && !list.is_disabled(name) {
        return Ok(None);
    }
    let locked = !meant.is_empty() && meant.iter().all(|rule| rule.get("locked") == Some(&Value::Bool(true)));
    Ok(Some((list, locked)))
}
