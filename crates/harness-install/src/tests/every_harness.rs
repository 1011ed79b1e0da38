// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Properties that hold for every harness, tested with real files: nothing is lost, and installing twice changes
//! nothing. Also has snapshots of the written files.

use crate::HarnessClient;
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::super::{
    InstallError, InstallPlan, InstallRequest, Installer, MachineEnvironment, SettingsScope,
    jsonc::tests::SettingsGenerator, receipt,
};
use tenterhook_harness::HARNESSES;

pub(super) struct HarnessWorld {
    pub(super) name: String,
    pub(super) root: TempDir,
    pub(super) installer: &'static Installer,
    pub(super) order: InstallRequest,
}

impl HarnessWorld {
    pub(super) fn of(id: &str) -> Self {
        Self::in_scope(id, |_| SettingsScope::User).expect("a user's scope")
    }

    /// The machine's settings. Their files have the same paths as the user's.
    fn of_machine(id: &str) -> Option<Self> {
        Self::in_scope(id, |person| SettingsScope::Machine(person.to_owned()))
    }

    fn in_scope(id: &str, scope: fn(&Path) -> SettingsScope) -> Option<Self> {
        let root = tempfile::tempdir().expect("a directory");
        let installer =
            tenterhook_harness::find_harness(id).and_then(HarnessClient::installer).expect("an installer");
        let (person, variables) = (root.path().join("person"), BTreeMap::new());
        fs::create_dir(&person).expect("a home");
        let ground = MachineEnvironment { home: Some(&person), variables: &variables, path: OsStr::new("") };
        let order = installer.order(&ground, scope(&person), &root.path().join("th"))?;
        Some(Self { name: format!("{id} in {:?}", order.scope), root, installer, order })
    }

    /// Number of test rounds. The machine's settings get fewer rounds, because the same code edits their files.
    fn rounds(&self, most: u64) -> u64 {
        if self.order.is_machine() { most / 5 } else { most }
    }

    fn receipts(&self) -> PathBuf {
        self.root.path().join("th/install")
    }

    pub(super) fn plan(&self) -> Result<InstallPlan, InstallError> {
        self.installer.plan_install(&self.order, &self.receipts())
    }

    pub(super) fn install(&self) -> InstallPlan {
        let plan = self.plan().expect("plans");
        plan.apply().expect("installs");
        plan
    }

    pub(super) fn uninstall(&self) -> InstallPlan {
        let plan = self.installer.plan_uninstall(&self.order, &self.receipts()).expect("plans");
        plan.apply().expect("uninstalls");
        plan
    }

    /// Files that belong to the harness.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let plan = self.plan().expect("plans");
        plan.steps.iter().map(|step| step.change.path.clone()).collect()
    }

    pub(super) fn write(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("writes");
    }

    /// Every file in the home directory, by path.
    pub(super) fn content(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        fn walk(directory: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
            for item in fs::read_dir(directory).expect("lists") {
                let path = item.expect("an item").path();
                found.insert(path.clone(), fs::read(&path).ok());
                if path.is_dir() {
                    walk(&path, found);
                }
            }
        }
        let mut found = BTreeMap::new();
        walk(&self.root.path().join("person"), &mut found);
        found
    }
}

pub(super) fn harness_ids() -> impl Iterator<Item = &'static str> {
    HARNESSES.iter().filter(|harness| harness.installer().is_some()).map(|harness| harness.id)
}

/// For every harness: the user's settings, and the machine's settings if the harness has them.
fn harness_worlds() -> impl Iterator<Item = HarnessWorld> {
    harness_ids().flat_map(|id| [Some(HarnessWorld::of(id)), HarnessWorld::of_machine(id)]).flatten()
}

/// A settings file with random content.
fn settings(path: &Path, dice: &mut SettingsGenerator) -> String {
    match path.extension().and_then(OsStr::to_str) {
        Some("toml") => dice.toml(),
        _ => dice.settings(),
    }
}

// seed: 001-059
#[test]
fn nothing_there_is_nothing_left() {
    for place in harness_worlds() {
        let id = &place.name;
        let before = place.content();
        assert!(!place.install().is_noop(), "{id}");
        assert!(place.plan().expect("plans").is_noop(), "{id}: twice is once");
        assert!(place.uninstall().restores(), "{id}");
        assert_eq!(place.content(), before, "{id}");
        assert!(!place.receipts().exists(), "{id}: no receipt is left");
    }
}

// seed: 001-025, 001-062
#[test]
fn any_settings_come_back_byte_for_byte() {
    for place in harness_worlds() {
        let id = &place.name;
        let files = place.files();
        for seed in 0..place.rounds(60) {
            let mut dice = SettingsGenerator(seed * 31 + 7);
            for path in &files {
                if is_edited(path) {
                    place.write(path, &settings(path, &mut dice));
                }
            }
            let before = place.content();
            let Ok(plan) = place.plan() else {
                panic!("{id}, seed {seed}: {:?}", place.plan());
            };
            plan.apply().expect("installs");
            let installed = place.content();
            assert!(place.plan().expect("plans").is_noop(), "{id}, seed {seed}: twice is once");
            assert_ne!(installed, before, "{id}, seed {seed}");
            place.uninstall();
            assert_eq!(place.content(), before, "{id}, seed {seed}");
        }
    }
}

// seed: 001-060, 001-063
#[test]
fn what_others_write_in_between_stays() {
    for place in harness_worlds() {
        let id = &place.name;
        let files = place.files();
        for seed in 0..place.rounds(40) {
            let mut dice = SettingsGenerator(seed * 17 + 3);
            let mut expected = BTreeMap::new();
            for path in files.iter().filter(|path| is_edited(path)) {
                let text = settings(path, &mut dice);
                place.write(path, &text);
                expected.insert(path.clone(), text);
            }
            place.install();
            for path in expected.keys() {
                place.write(path, &edited_by_user(path, &fs::read_to_string(path).expect("reads")));
            }
            place.uninstall();
            for (path, text) in &expected {
                let left = fs::read_to_string(path).expect("reads");
                let solid = |text: &str| text.split_whitespace().collect::<String>();
                let wanted = solid(&edited_by_user(path, text));
                // The edit may have added a trailing comma.
                let same =
                    solid(&left) == wanted || solid(&left).replace(",}", "}") == wanted.replace(",}", "}");
                assert!(same, "{id}, seed {seed}: {text:?} became {left:?}");
            }
            place.uninstall();
        }
    }
}

fn edited_by_user(path: &Path, text: &str) -> String {
    match path.extension().and_then(OsStr::to_str) {
        Some("toml") => format!("# mine\nmine = 1\n{text}"),
        _ => text.replacen('{', "{\"mine\":[1],", 1),
    }
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

/// Whether Tenterhook writes only a part of the file.
fn is_edited(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let shared = ["settings.json", "hooks.json", "managed-settings.json", "opencode.json"];
    shared.contains(&name) || is_toml(path)
}

#[test]
fn a_failure_in_the_middle_leaves_every_file_as_it_was() {
    for place in harness_worlds() {
        let id = &place.name;
        for path in place.files().iter().filter(|path| is_edited(path)) {
            place.write(path, if is_toml(path) { "# mine\n" } else { "{ }" });
        }
        let before = place.content();
        let mut plan = place.plan().expect("plans");
        let last = plan.steps.len() - 1;
        // The content is larger than a settings file may be, so writing the last file fails.
        plan.steps[last].change.after = Some(vec![b' '; 17 * 1024 * 1024]);
        assert!(matches!(plan.apply(), Err(InstallError::TooLarge { .. })), "{id}");
        assert_eq!(place.content(), before, "{id}");
        assert!(!place.receipts().exists(), "{id}: {:?}", fs::read_dir(place.receipts()));
    }
}

#[test]
fn what_cannot_be_read_is_refused_and_stays() {
    for place in harness_worlds() {
        let id = &place.name;
        for path in place.files().iter().filter(|path| is_edited(path)) {
            let text = if is_toml(path) { "a = \n" } else { "{\"hooks\": 1" };
            place.write(path, text);
            let before = place.content();
            let error = place.plan().expect_err(id);
            assert!(matches!(error, InstallError::Settings { line: 1, .. }), "{id}: {error}");
            assert_eq!(place.content(), before, "{id}");
            fs::remove_file(path).expect("removes");
        }
    }
}

#[test]
fn lost_wiring_is_seen_by_its_receipt() {
    for place in harness_worlds() {
        let id = &place.name;
        place.install();
        let receipts = receipt::every(&place.receipts()).readable;
        assert!(!receipts.is_empty() && receipts.iter().all(receipt::Receipt::is_kept), "{id}");
        let first = place.files().remove(0);
        fs::write(&first, "{}").expect("writes");
        assert!(!receipt::every(&place.receipts()).readable.iter().all(receipt::Receipt::is_kept), "{id}");
        fs::remove_file(&first).expect("removes");
        assert!(!receipt::every(&place.receipts()).readable.iter().all(receipt::Receipt::is_kept), "{id}");
    }
}

#[test]
fn an_unreadable_receipt_is_named_and_hides_no_other() {
    let place = harness_worlds().next().expect("a place");
    place.install();
    let installed = receipt::every(&place.receipts());
    assert!(installed.unreadable.is_empty());
    let newer = "{\"version\": 999}";
    for (name, text) in
        [("a-broken.json", "{\"version\": 1, \"harn"), ("b-newer.json", newer), ("note.txt", "x")]
    {
        fs::write(place.receipts().join(name), text).expect("writes");
    }
    let found = receipt::every(&place.receipts());
    assert_eq!(found.readable.len(), installed.readable.len());
    let names: Vec<_> = found.unreadable.iter().map(|file| file.path.file_name().expect("a name")).collect();
    assert_eq!(names, ["a-broken.json", "b-newer.json"]);
    assert!(found.unreadable.iter().all(|file| !file.reason.is_empty()), "{:?}", found.unreadable);
    assert!(receipt::every(&place.receipts().join("note.txt")).unreadable.len() == 1, "not a directory");
    assert!(receipt::every(&place.receipts().join("missing")).unreadable.is_empty());
}
