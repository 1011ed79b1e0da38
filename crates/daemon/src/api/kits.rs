// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Kits of hooks: which there are, writing one, trusting it, removing it. What runs then passes the gate.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_engine::load::Around;
use tenterhook_home::authority::{Action, Proof};
use tenterhook_home::kits::{self, Files, Kit, KitList, MANIFEST, Manifest};
use tenterhook_home::templates::{self, Kind};
use tenterhook_home::{Failure, Home};

use super::authority::refused;
use super::route::{Gives, Route, Takes};
use super::{failed, read, refuse};
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/kits", "listKits", |method| on(method, list))
        .about("The kits of hooks, with their files, and whether they run.")
        .gives(Gives::Json("Kits"))
        .refuses(&[500]),
    Route::post("/v1/kits/validate", "validateKit", |method| on(method, validate))
        .about("Whether files could be a kit of hooks. Nothing is changed, and nothing is run.")
        .takes(Takes::Json("KitFiles"))
        .gives(Gives::Json("KitValidation"))
        .refuses(&[400]),
    Route::put("/v1/kits/{name}", "putKit", |method| on(method, put))
        .about("Writes a kit, from files or a template, and lets it run. Needs a person's proof.")
        .takes(Takes::Json("KitRequest"))
        .gives(Gives::Json("Kits"))
        .refuses(&[400, 403, 409, 422]),
    Route::post("/v1/kits/{name}/trust", "trustKit", |method| on(method, trust))
        .about("Lets a kit run as it is now. Needs a person's proof.")
        .takes(Takes::Json("SwitchRequest"))
        .gives(Gives::Json("Kits"))
        .refuses(&[400, 403, 404, 422]),
    Route::post("/v1/kits/{name}/remove", "removeKit", |method| on(method, remove))
        .about("Removes a kit. Needs a person's proof if it runs.")
        .takes(Takes::Json("SwitchRequest"))
        .gives(Gives::Json("Kits"))
        .refuses(&[400, 403, 404]),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    files: Option<Files>,
    template: Option<String>,
    #[serde(default)]
    proof: Proof,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    #[serde(default)]
    proof: Proof,
}

async fn list(State(daemon): State<Arc<Daemon>>) -> Response {
    match tokio::task::spawn_blocking(move || listed(&daemon.home)).await {
        Ok(Ok(kits)) => Json(kits).into_response(),
        Ok(Err(failure)) => failed(&failure),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    }
}

fn listed(home: &Home) -> Result<Value, Failure> {
    let list = KitList::read_to_change(home)?;
    let one = |kit: &Kit| {
        let dir = home.kits().join(&kit.name);
        let (standing, why) = match (kit.files(home), kit.trusted) {
            (Err(failure), _) => ("changed", Some(failure.message)),
            (Ok(_), true) => ("trusted", None),
            (Ok(_), false) => ("not trusted", None),
        };
        let files = kits::gather(&dir).unwrap_or_default();
        let manifest = files.get(MANIFEST).and_then(|text| Manifest::read(MANIFEST, text).ok());
        json!({
            "name": kit.name, "from": kit.from, "commit": kit.commit, "trusted": kit.trusted,
            "sha256": kits::digest(&kit.files), "standing": standing, "why": why, "folder": dir,
            "manifest": manifest, "files": files,
        })
    };
    Ok(json!({"kits": list.kits.iter().map(one).collect::<Vec<_>>()}))
}

async fn validate(State(daemon): State<Arc<Daemon>>, body: Bytes) -> Response {
    let wanted: Wanted = match read(&body, "kit", "send {\"files\": {\"hook.yaml\": …}}") {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    let files = wanted.files.unwrap_or_default();
    match checked(&daemon, "draft", &files) {
        Ok(ids) => Json(json!({"ok": true, "hooks": ids, "problem": null})).into_response(),
        Err(failure) => Json(json!({"ok": false, "hooks": [], "problem": failure.message})).into_response(),
    }
}

/// The hooks of a kit under this name, or why it cannot be used.
fn checked(daemon: &Daemon, name: &str, files: &Files) -> Result<Vec<String>, Failure> {
    let env = daemon.generations.env();
    let person = daemon.generations.person();
    let around = Around { dir: &daemon.home.config, home: person, env: &env.all };
    let names = files.keys().all(|file| {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        !file.is_empty() && !file.starts_with('.') && file.len() <= 64 && file.chars().all(fits)
    });
    if !names || files.len() > 20 || files.values().any(|text| text.len() > 256 * 1024) {
        return Err(Failure::unusable("a kit is at most 20 small files with plain names"));
    }
    let (_, hooks) = kits::check(&daemon.home.kits().join(name), files, &around)?;
    Ok(hooks.iter().map(|hook| hook.id.to_string()).collect())
}

async fn put(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Path(name): Path<String>,
    body: Bytes,
) -> Response {
    let hint = "send {\"template\": …} or {\"files\": {\"hook.yaml\": …}}, with \"proof\"";
    let Wanted { files, template, proof } = match read(&body, "kit", hint) {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    if let Err(failure) = kits::check_name(&name) {
        return failed(&failure);
    }
    let (files, from) = match (files, template) {
        (Some(files), None) => (files, "the dashboard".to_owned()),
        (None, Some(template)) => match templates::find(Kind::Hook, &template) {
            Ok(found) => (found.kit(&name), format!("template {template}")),
            Err(failure) => return failed(&failure),
        },
        _ => return refuse(StatusCode::BAD_REQUEST, "either `files` or `template` is needed", Some(hint)),
    };
    let _turn = daemon.changing.lock().await;
    let list = match KitList::read_to_change(&daemon.home) {
        Ok(list) => list,
        Err(failure) => return failed(&failure),
    };
    if list.find(&name).is_some_and(|kit| kit.commit.is_some()) {
        let why = format!("`{name}` came from a repository and stays as it was there");
        return refuse(StatusCode::CONFLICT, &why, Some("give this one another name"));
    }
    if let Err(failure) = clashes(&daemon, &list, &name, &files) {
        return refuse(StatusCode::UNPROCESSABLE_ENTITY, &failure.message, None);
    }
    let kit = Kit { trusted: true, ..Kit::fresh(&name, &from, None, &files) };
    keep(&daemon, peer, &proof, list, kit, Some(files)).await
}

/// Whether the hooks of a kit can stand beside those in force.
fn clashes(daemon: &Daemon, list: &KitList, name: &str, files: &Files) -> Result<(), Failure> {
    let own = list.find(name).filter(|kit| kit.trusted).and_then(|kit| kit.files(&daemon.home).ok());
    let before = own.map(|files| checked(daemon, name, &files)).transpose()?.unwrap_or_default();
    let base = daemon.generations.base();
    for id in checked(daemon, name, files)? {
        let taken = base.generation.all_hooks().iter().any(|hook| hook.id.as_ref() == id);
        if taken && !before.contains(&id) {
            return Err(Failure::unusable(format!("there is another hook `{id}`")));
        }
    }
    Ok(())
}

async fn trust(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Path(name): Path<String>,
    body: Bytes,
) -> Response {
    let Shown { proof } = match read(&body, "request", "send {\"proof\": …}") {
        Ok(shown) => shown,
        Err(response) => return *response,
    };
    let _turn = daemon.changing.lock().await;
    let (list, kit) = match find(&daemon.home, &name) {
        Ok(found) => found,
        Err(response) => return *response,
    };
    let dir = daemon.home.kits().join(&name);
    let files = if kit.commit.is_some() { kit.files(&daemon.home) } else { kits::gather(&dir) };
    let files = files.and_then(|files| clashes(&daemon, &list, &name, &files).map(|()| files));
    match files {
        Ok(files) => {
            let kit = Kit { trusted: true, files: kits::hashes(&files), ..kit };
            keep(&daemon, peer, &proof, list, kit, None).await
        }
        Err(failure) => {
            let hint = failure.hints.first().map(String::as_str);
            refuse(StatusCode::UNPROCESSABLE_ENTITY, &failure.message, hint)
        }
    }
}

/// Passes the gate and keeps a kit that runs from now on.
async fn keep(
    daemon: &Arc<Daemon>,
    peer: Peer,
    proof: &Proof,
    mut list: KitList,
    kit: Kit,
    files: Option<Files>,
) -> Response {
    let detail = json!({"kit": kit, "sha256": kits::digest(&kit.files)});
    if let Err(why) = daemon.admit(Action::HooksTrust, peer, proof, detail, Vec::new()).await {
        return refused(&why);
    }
    changed(daemon, move |home| {
        if let Some(files) = &files {
            kits::write(home, &kit.name, files)?;
        }
        list.put(kit);
        list.write(home)
    })
    .await
}

async fn remove(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Path(name): Path<String>,
    body: Bytes,
) -> Response {
    let Shown { proof } = match read(&body, "request", "send {\"proof\": …}") {
        Ok(shown) => shown,
        Err(response) => return *response,
    };
    let _turn = daemon.changing.lock().await;
    let (mut list, kit) = match find(&daemon.home, &name) {
        Ok(found) => found,
        Err(response) => return *response,
    };
    let detail = json!({"kit": kit.name, "sha256": kits::digest(&kit.files)});
    if let Err(why) = daemon.admit(Action::HooksRemove, peer, &proof, detail, Vec::new()).await {
        return refused(&why);
    }
    changed(&daemon, move |home| {
        list.kits.retain(|other| other.name != kit.name);
        list.write(home)?;
        let dir = home.kits().join(&kit.name);
        if dir.exists() {
            fs_err::remove_dir_all(dir)?;
        }
        Ok(())
    })
    .await
}

fn find(home: &Home, name: &str) -> Result<(KitList, Kit), Box<Response>> {
    let list = KitList::read_to_change(home).map_err(|failure| Box::new(failed(&failure)))?;
    let Some(kit) = list.find(name).cloned() else {
        let message = format!("there is no kit `{}`", crate::sessions::clean(name, 100));
        return Err(Box::new(refuse(StatusCode::NOT_FOUND, &message, Some("GET /v1/kits lists them"))));
    };
    Ok((list, kit))
}

/// Changes the kits, and has the new ones in force.
async fn changed(
    daemon: &Arc<Daemon>,
    change: impl FnOnce(&Home) -> Result<(), Failure> + Send + 'static,
) -> Response {
    let changing = Arc::clone(daemon);
    let done = tokio::task::spawn_blocking(move || {
        change(&changing.home)?;
        changing.generations.refresh(true)?;
        listed(&changing.home)
    });
    match done.await {
        Ok(Ok(kits)) => Json(kits).into_response(),
        Ok(Err(failure)) => failed(&failure),
        Err(error) => refuse(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string(), None),
    }
}
