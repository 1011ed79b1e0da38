// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists, checks, writes, trusts and removes hook packages. Changing what runs is a privileged action.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::json;
use tenterhook_api::{
    HookPackage, HookPackageFilesRequest, HookPackageList, HookPackageManifest, HookPackageRequest,
    HookPackageStatus, HookPackageValidation, ProofRequest,
};
use tenterhook_authority::{Action, Proof};
use tenterhook_engine::load::LoadContext;
use tenterhook_error::Failure;
use tenterhook_home::Home;
use tenterhook_home::hook_packages::{self, MANIFEST, Manifest, PackageEntry, PackageFiles, PackageList};
use tenterhook_home::templates::{self, TemplateKind};

use super::error::{ApiError, run_blocking};
use super::extract::{PathParams, RequestBody};
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/kits", "listKits", list).about("The hook packages, with their files, and whether they run."),
        Route::post("/v1/kits/validate", "validateKit", validate)
            .about("Checks files as a hook package. Nothing is changed, and nothing is run."),
        Route::put("/v1/kits/{name}", "putKit", put)
            .about("Writes a hook package, from files or a template, and lets it run. Needs a proof of the user.")
            .errors(&[409, 422]),
        Route::post("/v1/kits/{name}/trust", "trustKit", trust)
            .about("Lets a hook package run as it is now. Needs a proof of the user.")
            .errors(&[404, 422]),
        Route::post("/v1/kits/{name}/remove", "removeKit", remove)
            .about("Removes a hook package. Needs a proof of the user if it runs.")
            .errors(&[404]),
    ]
}

async fn list(State(daemon): State<Arc<Daemon>>) -> Result<Json<HookPackageList>, ApiError> {
    run_blocking(move || hook_packages(&daemon.home)).await.map(Json)
}

fn hook_packages(home: &Home) -> Result<HookPackageList, Failure> {
    let list = PackageList::read_for_update(home)?;
    Ok(HookPackageList { kits: list.packages.iter().map(|kit| hook_package(home, kit)).collect() })
}

fn hook_package(home: &Home, kit: &PackageEntry) -> HookPackage {
    let dir = home.hook_packages().join(&kit.name);
    let (standing, why) = match (kit.files(home), kit.trusted) {
        (Err(failure), _) => (HookPackageStatus::Changed, Some(failure.message)),
        (Ok(_), true) => (HookPackageStatus::Trusted, None),
        (Ok(_), false) => (HookPackageStatus::NotTrusted, None),
    };
    let files = hook_packages::read_files(&dir).unwrap_or_default();
    let manifest = files.get(MANIFEST).and_then(|text| Manifest::read(MANIFEST, text).ok());
    HookPackage {
        name: kit.name.clone(),
        from: kit.from.clone(),
        commit: kit.commit.clone(),
        trusted: kit.trusted,
        sha256: hook_packages::digest(&kit.files),
        standing,
        why,
        folder: dir.display().to_string(),
        manifest: manifest.map(HookPackageManifest::from),
        files,
    }
}

async fn validate(
    State(daemon): State<Arc<Daemon>>,
    RequestBody(HookPackageFilesRequest { files }): RequestBody<HookPackageFilesRequest>,
) -> Json<HookPackageValidation> {
    Json(match check_files(&daemon, "draft", &files) {
        Ok(hooks) => HookPackageValidation { ok: true, hooks, problem: None },
        Err(failure) => {
            HookPackageValidation { ok: false, hooks: Vec::new(), problem: Some(failure.message) }
        }
    })
}

/// Returns the ids of the hooks in these files, or the reason why the files are not a usable hook package.
fn check_files(daemon: &Daemon, name: &str, files: &PackageFiles) -> Result<Vec<String>, Failure> {
    let env = daemon.generations.env();
    let user_home = daemon.generations.user_home();
    let context = LoadContext { dir: &daemon.home.config, home: user_home, env: &env.all };
    let names = files.keys().all(|file| {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        !file.is_empty() && !file.starts_with('.') && file.len() <= 64 && file.chars().all(fits)
    });
    if !names || files.len() > 20 || files.values().any(|text| text.len() > 256 * 1024) {
        return Err(Failure::user("a hook package has at most 20 files of 256 KiB, with plain names"));
    }
    let (_, hooks) = hook_packages::check(&daemon.home.hook_packages().join(name), files, &context)?;
    Ok(hooks.iter().map(|hook| hook.id.to_string()).collect())
}

async fn put(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(name): PathParams<String>,
    RequestBody(HookPackageRequest { files, template, proof }): RequestBody<HookPackageRequest>,
) -> Result<Json<HookPackageList>, ApiError> {
    hook_packages::check_name(&name)?;
    let (files, from) = match (files, template) {
        (Some(files), None) => (files, "the dashboard".to_owned()),
        (None, Some(template)) => {
            (templates::find(TemplateKind::Hook, &template)?.package(&name), format!("template {template}"))
        }
        _ => {
            let hint = "send {\"template\": …} or {\"files\": {\"hook.yaml\": …}}, with \"proof\"";
            return Err(ApiError::bad_request("either `files` or `template` is needed").hint(hint));
        }
    };
    let _turn = daemon.change_lock.lock().await;
    let list = PackageList::read_for_update(&daemon.home)?;
    if list.find(&name).is_some_and(|kit| kit.commit.is_some()) {
        let why = format!("`{name}` was installed from a repository and cannot be edited");
        return Err(ApiError::conflict(why).hint("choose another name"));
    }
    check_conflicts(&daemon, &list, &name, &files).map_err(ApiError::unusable_content)?;
    let kit = PackageEntry { trusted: true, ..PackageEntry::new(&name, &from, None, &files) };
    admit_and_write(&daemon, peer, &proof, list, kit, Some(files)).await
}

/// Fails if a hook of the package has the same id as another hook in force.
fn check_conflicts(
    daemon: &Daemon,
    list: &PackageList,
    name: &str,
    files: &PackageFiles,
) -> Result<(), Failure> {
    let own = list.find(name).filter(|kit| kit.trusted).and_then(|kit| kit.files(&daemon.home).ok());
    let before = own.map(|files| check_files(daemon, name, &files)).transpose()?.unwrap_or_default();
    let base = daemon.generations.base();
    for id in check_files(daemon, name, files)? {
        let taken = base.generation.all_hooks().iter().any(|hook| hook.id.as_ref() == id);
        if taken && !before.contains(&id) {
            return Err(Failure::user(format!("hook `{id}` already exists")));
        }
    }
    Ok(())
}

async fn trust(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(name): PathParams<String>,
    RequestBody(ProofRequest { proof }): RequestBody<ProofRequest>,
) -> Result<Json<HookPackageList>, ApiError> {
    let _turn = daemon.change_lock.lock().await;
    let (list, kit) = find_package(&daemon.home, &name)?;
    let dir = daemon.home.hook_packages().join(&name);
    let files = if kit.commit.is_some() { kit.files(&daemon.home) } else { hook_packages::read_files(&dir) };
    let files = files.and_then(|files| check_conflicts(&daemon, &list, &name, &files).map(|()| files));
    let files = files.map_err(ApiError::unusable_content)?;
    let kit = PackageEntry { trusted: true, files: hook_packages::hash_files(&files), ..kit };
    admit_and_write(&daemon, peer, &proof, list, kit, None).await
}

/// Checks the proof, then writes a package whose hooks run from now on.
async fn admit_and_write(
    daemon: &Arc<Daemon>,
    peer: Peer,
    proof: &Proof,
    mut list: PackageList,
    kit: PackageEntry,
    files: Option<PackageFiles>,
) -> Result<Json<HookPackageList>, ApiError> {
    let detail = json!({"kit": kit, "sha256": hook_packages::digest(&kit.files)});
    daemon.admit(Action::HooksTrust, peer, proof, detail, Vec::new()).await?;
    apply_change(daemon, move |home| {
        if let Some(files) = &files {
            hook_packages::write(home, &kit.name, files)?;
        }
        list.put(kit);
        list.write(home)
    })
    .await
}

async fn remove(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(name): PathParams<String>,
    RequestBody(ProofRequest { proof }): RequestBody<ProofRequest>,
) -> Result<Json<HookPackageList>, ApiError> {
    let _turn = daemon.change_lock.lock().await;
    let (mut list, kit) = find_package(&daemon.home, &name)?;
    let detail = json!({"kit": kit.name, "sha256": hook_packages::digest(&kit.files)});
    daemon.admit(Action::HooksRemove, peer, &proof, detail, Vec::new()).await?;
    apply_change(&daemon, move |home| {
        list.packages.retain(|other| other.name != kit.name);
        list.write(home)?;
        let dir = home.hook_packages().join(&kit.name);
        if dir.exists() {
            fs_err::remove_dir_all(dir)?;
        }
        Ok(())
    })
    .await
}

fn find_package(home: &Home, name: &str) -> Result<(PackageList, PackageEntry), ApiError> {
    let list = PackageList::read_for_update(home)?;
    let Some(kit) = list.find(name).cloned() else {
        let message = format!("unknown hook package `{}`", tenterhook_records::sanitize(name, 100));
        return Err(ApiError::not_found(message).hint("GET /v1/kits lists the hook packages"));
    };
    Ok((list, kit))
}

/// Changes hook packages and puts the change into force.
async fn apply_change(
    daemon: &Arc<Daemon>,
    change: impl FnOnce(&Home) -> Result<(), Failure> + Send + 'static,
) -> Result<Json<HookPackageList>, ApiError> {
    let changing = Arc::clone(daemon);
    run_blocking(move || {
        change(&changing.home)?;
        changing.generations.refresh(true)?;
        hook_packages(&changing.home)
    })
    .await
    .map(Json)
}
