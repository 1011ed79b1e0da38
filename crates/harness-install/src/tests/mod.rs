// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whole installations with real files: plan, show, apply and revert.

mod disk;
mod every_harness;
mod llxprt;
mod managed_files;
mod messages;
mod written_files;

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::{
    FileContent, HookTransport, InstallError, InstallPlan, InstallRequest, ManagedFile, PlannedChange,
    SettingsScope, file, jsonc::tests::SettingsGenerator, receipt::Receipt,
};
use crate::claude_code::install::{EventRegistration, hooks};

struct SettingsWorld {
    root: TempDir,
    settings: PathBuf,
    home: PathBuf,
    receipts: PathBuf,
}

impl SettingsWorld {
    fn empty() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let home = root.path().join("home");
        Self { settings: root.path().join("settings.json"), receipts: home.join("install"), home, root }
    }

    fn with(text: impl AsRef<[u8]>) -> Self {
        let world = Self::empty();
        fs::write(&world.settings, text).expect("writes");
        world
    }

    fn plan(&self) -> Result<InstallPlan, InstallError> {
        plan_install(&self.settings, &self.home, &self.receipts, &event_registrations())
    }

    fn install(&self) -> InstallPlan {
        let plan = self.plan().expect("plans");
        plan.apply().expect("installs");
        assert_eq!(file::read(&self.settings).expect("reads"), change(&plan).after);
        plan
    }

    fn uninstall(&self) -> InstallPlan {
        let plan = plan_uninstall(&self.settings, &self.receipts).expect("plans");
        plan.apply().expect("uninstalls");
        assert_eq!(file::read(&self.settings).expect("reads"), change(&plan).after);
        plan
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.settings).expect("reads")
    }

    fn edit(&self, from: &str, to: &str) {
        let text = self.text();
        assert!(text.contains(from), "{text}");
        fs::write(&self.settings, text.replacen(from, to, 1)).expect("writes");
    }

    fn receipt(&self) -> Receipt {
        serde_json::from_slice(&fs::read(self.receipts.join("claude-code.json")).expect("a receipt"))
            .expect("JSON")
    }

    /// Every path below the root, to check that nothing is left behind.
    fn tree(&self) -> Vec<PathBuf> {
        fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
            for item in fs::read_dir(directory).expect("lists") {
                let path = item.expect("an item").path();
                found.push(path.clone());
                if path.is_dir() && !path.is_symlink() {
                    walk(&path, found);
                }
            }
        }
        let mut found = Vec::new();
        walk(self.root.path(), &mut found);
        found.sort();
        found
    }
}

fn plan_install(
    settings: &Path,
    home: &Path,
    receipts: &Path,
    wires: &[EventRegistration],
) -> Result<InstallPlan, InstallError> {
    let order = install_request(settings, home);
    super::plan_install("claude-code", &order, &[piece(settings, &order, wires)?], receipts)
}

fn plan_uninstall(settings: &Path, receipts: &Path) -> Result<InstallPlan, InstallError> {
    let order = install_request(settings, Path::new("/anywhere"));
    super::plan_uninstall("claude-code", &[piece(settings, &order, &[])?], receipts)
}

fn piece(
    settings: &Path,
    order: &InstallRequest,
    wires: &[EventRegistration],
) -> Result<ManagedFile, InstallError> {
    Ok(ManagedFile::new(settings.to_owned(), FileContent::Edited(Box::new(hooks(order, wires)?))))
}

fn change(plan: &InstallPlan) -> &PlannedChange {
    &plan.steps[0].change
}

fn install_request(settings: &Path, home: &Path) -> InstallRequest {
    let directory = settings.parent().unwrap_or(settings).to_owned();
    InstallRequest {
        user_directory: directory.clone(),
        directory,
        scope: SettingsScope::User,
        home: home.to_owned(),
        transport: HookTransport::Command,
        trust: false,
        project: None,
        user_home: None,
        account_homes: Vec::new(),
        variables: std::collections::BTreeMap::new(),
    }
}

fn event_registrations() -> Vec<EventRegistration> {
    let wire = |native, kebab: &str, matcher, on_failure_block| EventRegistration {
        native,
        kebab: kebab.into(),
        matcher,
        timeout_s: matcher.then_some(60),
        on_failure_block,
    };
    vec![wire("PreToolUse", "pre-tool-use", true, true), wire("Stop", "stop", false, false)]
}

#[test]
fn the_entries_are_exactly_these() {
    let world = SettingsWorld::with("{}");
    world.install();
    let home = world.home.display();
    let expected = serde_json::json!({"hooks": {
        "PreToolUse": [{"_tenterhook": true, "matcher": "*", "hooks": [{
            "type": "command",
            "command": format!("'{home}/bin/tenterhook-hook' claude-code pre-tool-use"),
            "timeout": 60,
            "onFailure": "block",
        }]}],
        "Stop": [{"_tenterhook": true, "hooks": [{
            "type": "command",
            "command": format!("'{home}/bin/tenterhook-hook' claude-code stop"),
        }]}],
    }, "statusLine": {"type": "command", "command": format!("'{home}/bin/tenterhook-status'")}});
    assert_eq!(serde_json::from_str::<serde_json::Value>(&world.text()).expect("JSON"), expected);
}

#[test]
fn the_command_finds_its_shim_in_any_home() {
    for name in ["two words", "it's", "'", "$HOME", "`id`", "grün 家", "a\"b\\c", "line\nbreak", "-x;&|*"] {
        let mut world = SettingsWorld::empty();
        world.home = world.root.path().join(name);
        world.receipts = world.home.join("install");
        fs::create_dir_all(world.home.join("bin")).expect("directories");
        let shim = world.home.join("bin/tenterhook-hook");
        fs::write(&shim, "#!/bin/sh\nprintf '%s|' \"$@\"\n").expect("writes");
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).expect("mode");
        world.install();
        let settings: serde_json::Value = serde_json::from_str(&world.text()).expect("JSON");
        let command =
            settings.pointer("/hooks/PreToolUse/0/hooks/0/command").and_then(|c| c.as_str()).expect("text");
        let output = std::process::Command::new("/bin/sh").args(["-c", command]).output().expect("sh runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "claude-code|pre-tool-use|", "{command}");
        assert!(world.plan().expect("plans").is_noop());
        world.uninstall();
        assert!(!world.settings.exists());
    }
}

const ODD_SETTINGS: &[&str] = &[
    "",
    " ",
    "\n",
    "\r\n\t\r\n",
    "\u{feff}",
    "// only a comment",
    "{}",
    "{ }",
    "{\n}",
    "{}\n\n\n",
    "\u{feff}{\r\n}\r\n",
    "{ // why\n}",
    "{/* a */}",
    "{\"hooks\":{}}",
    "{\"hooks\" : { }\t}",
    "{\"hooks\":{\"PreToolUse\":[]}}",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n    ]\n  }\n}",
    "{\"a\":1,}",
    "{\n\t\"a\": [\n\t\t1,\n\t\t2,\n\t],\n}\n",
    "{\n    \"model\": \"opus\"\n}",
    "{\"model\":\"opus\",\"env\":{\"A\":\"b\"}}",
    "  {\n  \"indented\": \"root\"\n  }  ",
    "{\r\n  \"a\": 1,\r\n  // dos\r\n  \"b\": 2\r\n}\r\n",
    "{\r \"a\": 1\r}",
    "{\n  \"mixed\": 1,\r\n  \"endings\": 2\n}",
    "{\n  \"hooks\": {\n    // mine\n    \"PreToolUse\": [ // all\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"x\" }] }, // one\n      /* two */\n    ],\n  },\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [{\n      \"hooks\": [{ \"type\": \"command\", \"command\": \"say \\\"hi\\\"\" }]\n    }]\n  }, \"z\": 1 }",
    "{\"unicode\":\"\\ud83d\\ude00 😀 \u{2028}\"}",
    "// head\n{\"a\":1}// tail",
    "/* h */{\"a\":/* v */1/* t */}/* e */\n",
    "{\"disableAllHooks\":false,\"statusLine\":{\"type\":\"command\",\"command\":\"x\"}}",
    "{\"hooks\":{\"Future\":\"whatever\"}}",
];

#[test]
fn install_and_uninstall_give_back_every_byte() {
    for &text in ODD_SETTINGS {
        let world = SettingsWorld::with(text);
        let before = world.tree();
        assert!(!change(&world.install()).is_noop(), "{text:?}");
        assert_ne!(world.text(), text);
        world.uninstall();
        assert_eq!(world.text(), text);
        assert_eq!(world.tree().into_iter().filter(|path| *path != world.home).collect::<Vec<_>>(), before);
    }
}

#[test]
fn install_and_uninstall_give_back_every_byte_of_any_text() {
    let world = SettingsWorld::empty();
    for seed in 0..500 {
        let text = SettingsGenerator(seed).settings();
        fs::write(&world.settings, &text).expect("writes");
        world.install();
        assert!(world.plan().expect("plans").is_noop(), "seed {seed}");
        world.uninstall();
        assert_eq!(world.text(), text, "seed {seed}");
    }
}

#[test]
fn a_second_install_changes_nothing() {
    for &text in ODD_SETTINGS {
        let world = SettingsWorld::with(text);
        world.install();
        let (receipt, tree) = (world.receipt(), world.tree());
        let again = world.install();
        assert!(again.is_noop(), "{text:?}\n{}", again.diff());
        assert_eq!((world.receipt(), world.tree()), (receipt, tree));
    }
}

// seed: 001-063
#[test]
fn every_byte_of_the_users_survives_an_edit_in_between() {
    for &text in ODD_SETTINGS.iter().filter(|text| text.contains('{')) {
        let world = SettingsWorld::with(text);
        world.install();
        let installed = world.text();
        let edited = installed.replacen('{', "{\"mine\":[1],", 1);
        fs::write(&world.settings, edited).expect("writes");
        world.uninstall();
        let solid = |text: &str| text.split_whitespace().collect::<String>();
        let left = solid(&world.text());
        let is_kept = left.replacen("\"mine\":[1],", "", 1) == solid(text)
            || left.replacen("\"mine\":[1]", "", 1) == solid(text);
        assert!(is_kept, "{text:?} became {:?}", world.text());
        assert!(!world.receipts.join("claude-code.json").exists());
    }
}

#[test]
fn the_backup_and_the_receipt_tell_what_was_there() {
    let world = SettingsWorld::with("{\"a\": 1}");
    world.install();
    let receipt = world.receipt();
    let backup = world.receipts.join("backup/claude-code-settings.json");
    assert_eq!(fs::read_to_string(&backup).expect("a backup"), "{\"a\": 1}");
    assert!(receipt.pristine && receipt.created.hooks);
    assert!(receipt.written.is_of(world.text().as_bytes()));
    assert_eq!(receipt.settings, world.settings);
    for path in [&backup, &world.receipts.join("claude-code.json")] {
        assert_eq!(fs::metadata(path).expect("exists").mode() & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(&world.receipts).expect("exists").mode() & 0o777, 0o700);
}

// seed: 001-059
#[test]
fn an_upgrade_keeps_the_first_original() {
    let world = SettingsWorld::with("{ }");
    world.install();
    let mut newer = event_registrations();
    newer.remove(1);
    newer[0].timeout_s = Some(7);
    let plan = plan_install(&world.settings, &world.home, &world.receipts, &newer).expect("plans");
    plan.apply().expect("installs");
    assert!(!world.text().contains("Stop"));
    world.uninstall();
    assert_eq!(world.text(), "{ }");
}

#[test]
fn an_edit_before_an_upgrade_is_not_undone_by_uninstalling() {
    let world = SettingsWorld::with("{\n  \"a\": 1\n}\n");
    world.install();
    world.edit("\"a\": 1", "\"a\": 2");
    let mut newer = event_registrations();
    newer[0].timeout_s = Some(7);
    plan_install(&world.settings, &world.home, &world.receipts, &newer)
        .expect("plans")
        .apply()
        .expect("installs");
    assert!(!world.receipt().pristine);
    world.uninstall();
    assert_eq!(world.text(), "{\n  \"a\": 2\n}\n");
    assert_eq!(
        fs::read_to_string(world.receipts.join("backup/claude-code-settings.json")).expect("kept"),
        "{\n  \"a\": 1\n}\n"
    );
}

#[test]
fn after_a_removal_by_hand_the_next_install_starts_afresh() {
    let world = SettingsWorld::with("{\"a\":1}");
    world.install();
    fs::write(&world.settings, "{\"a\":2}").expect("writes");
    world.install();
    let backups: Vec<_> = fs::read_dir(world.receipts.join("backup")).expect("lists").collect();
    assert_eq!(backups.len(), 2, "no backup is overwritten");
    world.uninstall();
    assert_eq!(world.text(), "{\"a\":2}");
}

#[test]
fn a_file_the_client_rewrote_without_our_marker_is_cleaned_all_the_same() {
    let world = SettingsWorld::with("{}\n");
    world.install();
    let marked = world.text();
    let stripped = marked.replace("        \"_tenterhook\": true,\n", "");
    let rewritten = stripped.replacen("{\n", "{\n  \"model\": \"opus\",\n", 1);
    fs::write(&world.settings, rewritten).expect("writes");
    world.install();
    assert_eq!(world.text(), marked.replacen("{\n", "{\n  \"model\": \"opus\",\n", 1));
    fs::write(&world.settings, world.text().replace("        \"_tenterhook\": true,\n", "")).expect("writes");
    world.uninstall();
    assert_eq!(world.text(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn without_a_receipt_only_our_groups_go() {
    let world = SettingsWorld::with("{}");
    world.install();
    fs::remove_dir_all(&world.home).expect("removes");
    let plan = world.uninstall();
    assert_eq!(world.text(), "{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"Stop\": []\n  }\n}");
    assert!(plan.notes[0].contains("no receipt") && !plan.restores(), "{:?}", plan.notes);
}

#[test]
fn an_unreadable_receipt_counts_as_missing() {
    let world = SettingsWorld::with("{}");
    world.install();
    fs::write(world.receipts.join("claude-code.json"), "garbage").expect("writes");
    let plan = world.uninstall();
    assert!(!world.text().contains("_tenterhook"));
    assert_eq!(plan.notes.len(), 1);
}

#[test]
fn a_receipt_from_the_future_is_left_alone() {
    let world = SettingsWorld::with("{}");
    world.install();
    fs::write(world.receipts.join("claude-code.json"), "{\"version\": 99}").expect("writes");
    let error = plan_uninstall(&world.settings, &world.receipts).expect_err("too new");
    assert!(matches!(error, InstallError::ReceiptTooNew { found: 99, .. }));
    assert!(error.hint().is_some());
}

#[test]
fn a_backup_that_changed_is_not_restored() {
    let world = SettingsWorld::with("{\"a\":1}");
    world.install();
    fs::write(world.receipts.join("backup/claude-code-settings.json"), "{\"evil\":1}").expect("writes");
    let plan = world.uninstall();
    assert_eq!(world.text(), "{\"a\":1}");
    assert!(plan.notes[0].contains("missing or changed"), "{:?}", plan.notes);
}

#[test]
fn two_settings_files_have_two_receipts() {
    let world = SettingsWorld::with("{ }");
    let mut project = SettingsWorld::with("{ }");
    project.home.clone_from(&world.home);
    project.receipts.clone_from(&world.receipts);
    world.install();
    project.install();
    world.uninstall();
    project.uninstall();
    assert_eq!((world.text().as_str(), project.text().as_str()), ("{ }", "{ }"));
    assert!(!world.receipts.exists());
}

#[test]
fn nothing_installed_is_nothing_to_do() {
    for world in [SettingsWorld::empty(), SettingsWorld::with("{\"hooks\":{\"Stop\":[{\"hooks\":[]}]}}")] {
        let plan = world.uninstall();
        assert!(plan.is_noop());
        assert!(plan.notes[0].starts_with("nothing is installed"), "{:?}", plan.notes);
        assert_eq!(plan.diff(), "");
    }
}

#[test]
fn missing_directories_come_and_go() {
    let mut world = SettingsWorld::empty();
    world.settings = world.root.path().join("a b/.claude/settings.json");
    world.install();
    assert_eq!(fs::metadata(&world.settings).expect("exists").mode() & 0o777, 0o600);
    assert_eq!(
        fs::metadata(world.settings.parent().expect("a parent")).expect("exists").mode() & 0o777,
        0o700
    );
    world.uninstall();
    assert!(!world.root.path().join("a b").exists());

    world.install();
    fs::write(world.root.path().join("a b/.claude/CLAUDE.md"), "mine").expect("writes");
    world.uninstall();
    assert!(!world.settings.exists());
    assert!(world.root.path().join("a b/.claude/CLAUDE.md").exists());
}

#[test]
fn a_file_of_ours_that_was_only_reformatted_goes_too() {
    let world = SettingsWorld::empty();
    world.install();
    world.edit("{\n", "{\n\n\n");
    world.uninstall();
    assert!(!world.settings.exists());
}
