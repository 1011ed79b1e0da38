// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files that `install` writes for each harness, byte for byte, and its messages.

use crate::HarnessClient as _;
use std::fs;

use super::every_harness::{HarnessWorld, harness_ids};

// seed: 001-023, 001-024, 001-031, 001-032, 001-035, 001-038, 001-039
#[test]
fn these_files() {
    for id in harness_ids() {
        let place = HarnessWorld::of(id);
        let plan = place.install();
        let root = place.root.path().to_string_lossy().into_owned();
        let mut text = String::new();
        for path in place.files() {
            let content = fs::read_to_string(&path).expect("text");
            text += &format!("=== {}\n{content}", path.display());
        }
        for (what, message) in [("note", &plan.notes), ("to do", &plan.pending)] {
            for message in message {
                text += &format!("=== {what}: {message}\n");
            }
        }
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!(format!("install-{id}"), text.replace(&root, ""));
        });
    }
}

// seed: 001-024, 001-025, 001-028
#[test]
fn codex_trusts_our_hooks_only_on_request() {
    let mut place = HarnessWorld::of("codex");
    let config = place.files().remove(1);
    place.write(&config, "model = \"m\"\n\n[features]\nhooks = false # off\n");
    let plan = place.install();
    assert_eq!(plan.pending.len(), 1, "{:?}", plan.pending);
    assert_eq!(fs::read_to_string(&config).unwrap(), "model = \"m\"\n\n[features]\nhooks = true # off\n");
    let backups = fs::read_dir(place.root.path().join("th/install/backup")).unwrap();
    let mut backups = backups.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    assert!(backups.any(|text| text == "model = \"m\"\n\n[features]\nhooks = false # off\n"));

    place.order.trust = true;
    let plan = place.install();
    assert!(plan.pending.is_empty());
    let text = fs::read_to_string(&config).unwrap();
    assert_eq!(text.matches("trusted_hash = \"sha256:").count(), 11, "{text}");
    let key = format!("[hooks.state.\"{}:pre_tool_use:0:0\"]", place.files()[0].display());
    assert!(text.contains(&key), "{text}");

    place.order.trust = false;
    let plan = place.plan().expect("plans");
    assert!(plan.is_noop() && plan.pending.is_empty(), "what is trusted stays so");
    place.uninstall();
    assert_eq!(fs::read_to_string(&config).unwrap(), "model = \"m\"\n\n[features]\nhooks = false # off\n");
}

// seed: 001-032
#[test]
fn codex_desktop_is_trusted_by_what_codex_cli_wrote_into_their_settings() {
    let desktop = HarnessWorld::of("codex-desktop");
    let plan = desktop.install();
    assert_eq!(plan.pending.len(), 1, "{:?}", plan.pending);
    let to_do = "open Codex CLI, type `/hooks`, select the Tenterhook entries and press `t` (Codex Desktop has no such page";
    assert!(plan.pending[0].contains(to_do), "{:?}", plan.pending);
    for path in desktop.files() {
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains("trusted_hash"), "trust is not taken: {text}");
    }

    // Pressing `t` in Codex CLI stores trust, which also applies to Desktop. Without it, neither client runs the
    // hooks.
    let mut place = HarnessWorld::of("codex");
    place.order.trust = true;
    place.install();
    place.order.trust = false;
    place.installer = tenterhook_harness::find_harness("codex-desktop").unwrap().installer().unwrap();
    let plan = place.plan().expect("plans");
    assert!(plan.is_noop() && plan.pending.is_empty(), "{}{:?}", plan.diff(), plan.pending);
    let config = place.files().remove(1);
    let untrusted = fs::read_to_string(&config).unwrap().replace("trusted_hash", "other");
    fs::write(&config, untrusted).unwrap();
    assert_eq!(place.plan().expect("plans").pending.len(), 1);
}

#[test]
fn a_codex_hook_behind_another_has_another_name() {
    let mut place = HarnessWorld::of("codex");
    place.order.trust = true;
    let files = place.files();
    place.write(&files[0], r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#);
    place.install();
    let text = fs::read_to_string(&files[1]).unwrap();
    assert!(text.contains("hooks.json:stop:1:0\"") && !text.contains("hooks.json:stop:0:0\""), "{text}");
}

#[test]
fn our_qwen_hook_comes_last_and_conflicting_hooks_are_reported() {
    let place = HarnessWorld::of("qwen");
    let settings = place.files().remove(0);
    place.install();
    let text = fs::read_to_string(&settings).unwrap();
    let behind = text.replacen(
        "\"PreToolUse\": [",
        "\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"before\"}]},",
        1,
    );
    // For `PermissionRequest`, a deny takes precedence over an allow, so no warning is needed.
    let behind = behind.replacen(
        "\"PermissionRequest\": [",
        "\"PermissionRequest\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"grants\"}]},",
        1,
    );
    fs::write(&settings, behind).unwrap();
    let plan = place.plan().expect("plans");
    assert!(plan.is_noop(), "{}", plan.diff());
    assert_eq!(plan.notes.len(), 1, "{:?}", plan.notes);
    assert!(plan.notes[0].contains("an allow beats a deny: `before`"), "{:?}", plan.notes);

    let ours_first = text.replacen(
        "            \"timeout\": 60\n          }\n        ]\n      }\n    ],\n    \"PermissionRequest\"",
        "            \"timeout\": 60\n          }\n        ]\n      },\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"after\"}]}\n    ],\n    \"PermissionRequest\"",
        1,
    );
    assert_ne!(ours_first, text);
    fs::write(&settings, ours_first).unwrap();
    let plan = place.install();
    assert!(!plan.is_noop());
    let value: serde_json::Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    let groups = value["hooks"]["PreToolUse"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    assert_eq!(groups[0]["hooks"][0]["command"], "after", "{groups:?}");
}

#[test]
fn llxprt_is_switched_on_and_off_again() {
    let place = HarnessWorld::of("llxprt");
    let settings = place.files().remove(0);
    let before = "{\n  // mine\n  \"hooksConfig\": { \"enabled\": false },\n  \"tools\": {}\n}\n";
    place.write(&settings, before);
    let plan = place.install();
    assert!(plan.in_force, "{:?}", plan.notes);
    let text = fs::read_to_string(&settings).unwrap();
    assert!(text.contains("\"enabled\": true") && text.contains("\"enableHooks\": true"), "{text}");
    // The user edits the file, so the backup cannot be restored.
    fs::write(&settings, text.replace("// mine", "// mine!")).unwrap();
    place.uninstall();
    assert_eq!(fs::read_to_string(&settings).unwrap(), before.replace("// mine", "// mine!"));
}

#[test]
fn settings_elsewhere_that_disable_our_hooks_are_reported() {
    let off = |id: &str, directory: &str, text: &str| {
        let mut place = HarnessWorld::of(id);
        let project = place.root.path().join("project");
        place.write(&project.join(directory).join("settings.json"), text);
        place.order.project = Some(project);
        let plan = place.plan().expect("plans");
        assert!(!plan.in_force, "{id}: {:?}", plan.notes);
        plan.notes.join("\n")
    };
    assert!(
        off("claude-code", ".claude", r#"{"disableAllHooks": true}"#)
            .contains("`disableAllHooks` is true in")
    );
    assert!(
        off("gemini", ".gemini", r#"{"hooksConfig": {"enabled": false}}"#)
            .contains("`hooksConfig.enabled` is false")
    );
    assert!(
        off("gemini", ".gemini", r#"{"hooksConfig": {"disabled": ["tenterhook"]}}"#)
            .contains("lists Tenterhook's hooks")
    );
    assert!(off("qwen", ".qwen", r#"{"disableAllHooks": true}"#).contains("`disableAllHooks` is true"));
    assert!(off("llxprt", ".llxprt", r#"{"hooks": {"BeforeTool": []}}"#).contains("replace your hooks"));
}

#[test]
fn a_project_has_settings_of_its_own() {
    for id in harness_ids() {
        let mut place = HarnessWorld::of(id);
        let root = place.root.path().join("project");
        let (person, variables) = (place.root.path().join("person"), std::collections::BTreeMap::new());
        let ground = super::super::MachineEnvironment {
            home: Some(&person),
            variables: &variables,
            path: "".as_ref(),
        };
        let scope = super::super::SettingsScope::Project(root.clone());
        let Some(order) = place.installer.order(&ground, scope, &place.order.home) else { continue };
        place.install();
        place.order = order;
        place.install();
        assert!(place.files()[0].starts_with(&root), "{id}");
        place.uninstall();
        assert!(!root.exists(), "{id}");
    }
}
