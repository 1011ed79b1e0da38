// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests specific to LLxprt Code: an old settings file that the client copies, machine-wide settings, folder trust.

use crate::HarnessClient;
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::super::{InstallPlan, InstallRequest, Installer, MachineEnvironment, SettingsScope};

const OLD: &str = "person/.llxprt/settings.json";
const NEW: &str = "person/.config/llxprt-code/settings.json";
const PROJECT: &str = "project/.llxprt/settings.json";
const ORIGINAL: &str =
    "{\n  // mine\n  \"ui\": {\"theme\": \"Green\"},\n  \"tools\": {\"enableHooks\": false}\n}\n";

/// A machine with one user and one project.
struct LlxprtMachine {
    root: TempDir,
    installer: &'static Installer,
}

impl LlxprtMachine {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let installer = tenterhook_harness::find_harness("llxprt")
            .and_then(HarnessClient::installer)
            .expect("an installer");
        for directory in ["person", "project"] {
            fs::create_dir(root.path().join(directory)).expect("a directory");
        }
        Self { root, installer }
    }

    fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.root.path()).expect("a directory").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("writes");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("reads")
    }

    fn install_request(&self, scope: SettingsScope) -> InstallRequest {
        let (person, variables) = (self.path("person"), BTreeMap::new());
        let ground = MachineEnvironment { home: Some(&person), variables: &variables, path: OsStr::new("") };
        let mut order = self.installer.order(&ground, scope, &self.path("th")).expect("a scope");
        order.project = Some(self.path("project"));
        // Keeps the test from reading the settings of the machine that runs it.
        order.variables.insert("LLXPRT_SYSTEM_SETTINGS_PATH", self.path("etc/llxprt-code/settings.json"));
        order
    }

    fn plan(&self, scope: SettingsScope) -> InstallPlan {
        self.installer.plan_install(&self.install_request(scope), &self.path("th/install")).expect("plans")
    }

    fn install(&self, scope: SettingsScope) -> InstallPlan {
        let plan = self.plan(scope);
        plan.apply().expect("installs");
        plan
    }

    fn uninstall(&self, scope: SettingsScope) -> InstallPlan {
        let plan = self.installer.plan_uninstall(&self.install_request(scope), &self.path("th/install"));
        let plan = plan.expect("plans");
        plan.apply().expect("uninstalls");
        plan
    }

    /// Simulates the next start of the client.
    fn start_client(&self) {
        self.write(NEW, &self.read(OLD));
        self.write("person/.local/share/llxprt-code/.migration-complete.json", "{\"version\": 1}");
    }
}

fn files(plan: &InstallPlan) -> Vec<&Path> {
    plan.steps.iter().map(|step| step.change.path.as_path()).collect()
}

#[test]
fn the_old_place_and_the_client_s_copy_of_it_come_back_byte_for_byte() {
    let machine = LlxprtMachine::new();
    machine.write(OLD, ORIGINAL);
    assert_eq!(files(&machine.install(SettingsScope::User)), [machine.path(OLD)]);
    machine.start_client();

    let plan = machine.plan(SettingsScope::User);
    assert!(plan.is_noop() && plan.in_force, "{} {:?}", plan.diff(), plan.notes);
    assert_eq!(files(&plan), [machine.path(NEW), machine.path(OLD)]);
    assert!(machine.uninstall(SettingsScope::User).restores());
    assert_eq!((machine.read(OLD), machine.read(NEW)), (ORIGINAL.to_owned(), ORIGINAL.to_owned()));
    assert!(!machine.path("th/install").exists(), "no receipt is left");
}

#[test]
fn what_was_written_into_the_copy_since_stays() {
    let machine = LlxprtMachine::new();
    machine.write(OLD, ORIGINAL);
    machine.install(SettingsScope::User);
    machine.start_client();
    machine.write(NEW, &machine.read(NEW).replacen("\"ui\"", "\"mine\": 1, \"ui\"", 1));
    machine.uninstall(SettingsScope::User);
    assert_eq!(machine.read(OLD), ORIGINAL);
    assert_eq!(machine.read(NEW), ORIGINAL.replacen("\"ui\"", "\"mine\": 1, \"ui\"", 1));
}

#[test]
fn the_old_place_is_left_alone_when_the_client_no_longer_reads_it() {
    let machine = LlxprtMachine::new();
    machine.write(OLD, ORIGINAL);
    machine.write("person/.local/share/llxprt-code/.migration-complete.json", "{\"version\": 1}");
    assert_eq!(files(&machine.install(SettingsScope::User)), [machine.path(NEW)]);
    machine.write(NEW, "{}");
    assert_eq!(files(&machine.install(SettingsScope::User)), [machine.path(NEW)]);
    assert_eq!(machine.read(OLD), ORIGINAL);
}

#[test]
fn the_machine_s_settings_are_one_file_that_pins_the_switches() {
    let machine = LlxprtMachine::new();
    let scope = || SettingsScope::Machine(machine.path(""));
    let before = "{\"hooksConfig\": {\"disabled\": [\"other\"]}, \"ui\": {}}";
    machine.write("etc/llxprt-code/settings.json", before);
    // The project's settings must not disable the hooks in the machine's settings.
    machine.write(PROJECT, "{\"hooksConfig\": {\"enabled\": false, \"disabled\": [\"tenterhook\"]}}");
    let plan = machine.install(scope());
    assert!(plan.in_force, "{:?}", plan.notes);
    assert_eq!(files(&plan), [machine.path("etc/llxprt-code/settings.json")]);
    let text = machine.read("etc/llxprt-code/settings.json");
    let settings: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(settings["hooksConfig"], serde_json::json!({"enabled": true, "disabled": []}));
    assert_eq!(settings["tools"]["enableHooks"], true);
    assert_eq!(settings["hooks"].as_object().expect("hooks").len(), 11);
    assert!(machine.plan(scope()).is_noop());
    assert!(machine.uninstall(scope()).restores());
    assert_eq!(machine.read("etc/llxprt-code/settings.json"), before);
}

#[test]
fn a_later_layer_that_turns_our_hooks_off_is_named() {
    for (project, expected) in [
        ("{\"hooksConfig\": {\"enabled\": false}}", "`hooksConfig.enabled` is false"),
        ("{\"hooks\": {\"enabled\": false}}", "`hooks.enabled` is false"),
        ("{\"tools\": {\"enableHooks\": false}}", "`tools.enableHooks` is false"),
        ("{\"hooks\": {\"BeforeTool\": []}}", "replace your hooks, including Tenterhook's, at BeforeTool"),
        ("{\"hooks\": {\"disabled\": [\"tenterhook\"]}}", "lists Tenterhook's hooks"),
    ] {
        for file in [PROJECT, "etc/llxprt-code/settings.json"] {
            let machine = LlxprtMachine::new();
            machine.write(file, project);
            let plan = machine.plan(SettingsScope::User);
            assert!(!plan.in_force, "{file} {project}");
            assert!(plan.notes.iter().any(|note| note.contains(expected)), "{project}: {:?}", plan.notes);
        }
    }
}

#[test]
fn settings_of_a_project_that_run_our_hooks_do_not_replace_them() {
    let machine = LlxprtMachine::new();
    machine.install(SettingsScope::Project(machine.path("project")));
    let plan = machine.install(SettingsScope::User);
    assert!(plan.in_force, "{:?}", plan.notes);
}

#[test]
fn an_earlier_layer_turns_nothing_off() {
    let machine = LlxprtMachine::new();
    machine.write(NEW, "{\"hooksConfig\": {\"enabled\": false}}");
    let plan = machine.plan(SettingsScope::Project(machine.path("project")));
    assert!(plan.in_force, "{:?}", plan.notes);
}

#[test]
fn an_untrusted_folder_runs_no_hooks_and_is_reported() {
    let machine = LlxprtMachine::new();
    let trusted = "person/.config/llxprt-code/trustedFolders.json";
    let rule = |level: &str| format!("{{ // mine\n \"{}\": \"{level}\"}}", machine.path("project").display());
    machine.write(trusted, &rule("DO_NOT_TRUST"));
    assert!(machine.plan(SettingsScope::User).in_force, "folder trust is off");

    machine.write(NEW, "{\"folderTrust\": true}");
    for scope in [SettingsScope::User, SettingsScope::Project(machine.path("project"))] {
        let plan = machine.plan(scope);
        assert!(!plan.in_force);
        assert!(plan.notes.iter().any(|note| note.contains("is not trusted")), "{:?}", plan.notes);
    }
    for level in ["TRUST_FOLDER", "TRUST_PARENT"] {
        machine.write(trusted, &rule(level));
        let plan = machine.plan(SettingsScope::User);
        assert!(plan.in_force && plan.pending.is_empty(), "{level}: {:?} {:?}", plan.notes, plan.pending);
    }
    machine.write(trusted, "{}");
    let plan = machine.plan(SettingsScope::User);
    assert!(plan.pending.iter().any(|todo| todo.contains("trust `")), "{:?}", plan.pending);

    // A project can turn folder trust on for itself. This disables the user's hooks.
    machine.write(NEW, "{}");
    machine.write(PROJECT, "{\"folderTrust\": true}");
    assert_eq!(machine.plan(SettingsScope::User).pending.len(), 1);
    // The machine's settings take precedence over the project's.
    machine.write("etc/llxprt-code/settings.json", "{\"folderTrust\": false}");
    assert!(machine.plan(SettingsScope::User).pending.is_empty());
}

#[test]
fn folders_elsewhere_that_are_not_trusted_are_a_note() {
    let machine = LlxprtMachine::new();
    machine.write(NEW, "{\"folderTrust\": true}");
    let rules = serde_json::json!({
        machine.path("project").display().to_string(): "TRUST_FOLDER",
        machine.path("person").display().to_string(): "DO_NOT_TRUST",
    });
    machine.write("person/.config/llxprt-code/trustedFolders.json", &rules.to_string());
    let plan = machine.plan(SettingsScope::User);
    assert!(plan.in_force && plan.pending.is_empty());
    let person = machine.path("person").display().to_string();
    assert!(plan.notes.iter().any(|note| note.contains(&person)), "{:?}", plan.notes);
}
