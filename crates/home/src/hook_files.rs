// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The programs and scripts of hooks: whether they can run, and a rule that keeps agents from changing them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tenterhook_document::{Problem, Spot};
use tenterhook_engine::{FailMode, Hook, HookBackend, load, needed_files};
use tenterhook_policy::SourceLayer;

use crate::env::Env;
use crate::sources::Text;
use crate::trust::Standing;
use crate::{Home, read_file};

/// The name of the generated rule file, and the id of its rule.
const NAME: &str = "hook-files";
/// Programs in these directories belong to the system; agents cannot write there.
const SYSTEM_DIRS: &[&str] =
    &["/bin/", "/lib/", "/nix/store/", "/sbin/", "/usr/bin/", "/usr/lib/", "/usr/sbin/"];

/// The hooks of the settings that cannot run as they are written, with the reason.
pub fn problems(hooks: &[Hook], places: &[(String, Spot)], env: &Env) -> Vec<Problem> {
    let search = env.all.get("PATH").map(String::as_str);
    let problem = |(hook, place): (&Hook, &(String, Spot))| {
        let HookBackend::Command(command) = &hook.runner else { return None };
        let why = needed_files::why_not_runnable(command, None, search).filter(|_| hook.enabled)?;
        let means = match hook.fail {
            FailMode::Closed if !hook.observes => "until this is fixed, every call it applies to is denied",
            _ => "until this is fixed, the hook has no effect",
        };
        Some(Problem::new(&place.0, place.1, why).about("hook", Some(&hook.id)).hint(means))
    };
    hooks.iter().zip(places).filter_map(problem).collect()
}

/// The files that hooks of the settings run, wherever they are: a change of one of them is noticed.
pub fn watched(home: &Home, env: &Env) -> Vec<PathBuf> {
    paths(&from_settings(home, env))
}

/// A rule that guards the files of hooks as our own files are guarded, if there are any.
pub(crate) fn rule(home: &Home, env: &Env) -> Option<Text> {
    let own = |path: &PathBuf| path.starts_with(&home.config) || path.starts_with(&home.state);
    let system = |path: &PathBuf| SYSTEM_DIRS.iter().any(|dir| path.starts_with(dir));
    let mut guarded: Vec<_> = paths(&from_settings(home, env));
    guarded.retain(|path| !own(path) && !system(path));
    guarded.sort();
    guarded.dedup();
    let globs: Vec<_> = guarded.iter().filter_map(|path| as_glob(path)).collect();
    if globs.is_empty() {
        return None;
    }
    let mut yaml = format!("version: 1\npack: {NAME}\nrules:\n  - id: {NAME}\n");
    let _ = write!(
        yaml,
        "    description: Changes a program or script of a hook\n    severity: critical\n    locked: true\n    \
         match: {{effect: {{does: [write, append, delete, move, permit], path: {}}}}}\n    verdict: deny\n    \
         reason: This file belongs to a hook that protects this session; only the user may change it.\n    \
         nudge: tell the user what you want to change in the hook\n",
        serde_json::Value::from(globs)
    );
    let (layer, standing) = (SourceLayer::Baseline, Standing::Trusted);
    Some(Text { name: NAME.to_owned(), yaml: Cow::Owned(yaml), layer, standing, pack: Some(NAME.to_owned()) })
}

fn from_settings(home: &Home, env: &Env) -> Vec<Hook> {
    let Ok(Some(text)) = read_file::regular_file(&home.settings()) else { return Vec::new() };
    let person = env.home.as_deref().and_then(Path::to_str);
    let around = load::LoadContext { dir: &home.config, home: person, env: &env.all };
    load::load_settings("", &text, &around).hooks
}

fn paths(hooks: &[Hook]) -> Vec<PathBuf> {
    let files = |hook: &Hook| match &hook.runner {
        HookBackend::Command(command) => needed_files::needed_paths(command),
        _ => Vec::new(),
    };
    hooks.iter().flat_map(files).collect()
}

/// A path as a glob. A letter with a meaning in globs stands for any letter: the rule guards a little more
/// then, never less.
fn as_glob(path: &Path) -> Option<String> {
    Some(path.to_str()?.replace(['*', '?', '[', ']', '{', '}', '\\'], "?"))
}
