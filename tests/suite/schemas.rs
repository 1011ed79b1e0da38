// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The schemas that editors use: their addresses, and that they describe what the program reads.

use serde_json::Value;

use crate::context::{TestContext, repository};

fn read(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(repository().join("docs/spec").join(name)).unwrap()).unwrap()
}

fn keys(schema: &Value) -> Vec<&str> {
    schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

/// Messages of `check` about a settings file.
fn check(test: &TestContext, settings: &str) -> String {
    test.write("home/tenterhook.yaml", settings);
    test.run(&["check"]).stdout
}

#[test]
fn the_catalog_names_schemas_that_exist_under_their_own_address() {
    let catalog = read("catalog.json");
    let schemas = catalog["schemas"].as_array().unwrap();
    for entry in schemas {
        let url = entry["url"].as_str().unwrap();
        let schema = read(url.rsplit('/').next().unwrap());
        assert_eq!((&schema["$id"], &schema["title"]), (&entry["url"], &entry["name"]));
    }
    let files: Vec<_> = schemas.iter().flat_map(|entry| entry["fileMatch"].as_array().unwrap()).collect();
    assert_eq!(files, ["tenterhook.yaml", tenterhook_home::trust::PROJECT_FILE, "**/tenterhook/policy.yaml"]);
}

#[test]
fn a_new_rule_file_names_its_schema() {
    let test = TestContext::new();
    assert_eq!(test.run(&["rules", "new", "no-deploy"]).exit, 0);
    let text = std::fs::read_to_string(test.path("home/policy.yaml")).unwrap();
    let url = text.lines().next().unwrap().strip_prefix("# yaml-language-server: $schema=").unwrap();
    assert_eq!(read("rules.schema.json")["$id"], url);
    assert_eq!(test.run(&["check"]).exit, 0);
}

/// The program lists the keys that it knows when it meets an unknown one. The schema has exactly these.
#[test]
fn the_schema_of_the_settings_has_the_keys_that_the_program_knows() {
    let test = TestContext::new();
    let schema = read("settings.schema.json");
    let known = |settings: &str| {
        let said = check(&test, settings);
        let list = said.split_once("known: ").unwrap_or_else(|| panic!("{settings}: {said}")).1;
        let mut keys: Vec<String> = list.lines().next().unwrap().split(", ").map(ToOwned::to_owned).collect();
        keys.sort();
        keys
    };
    assert_eq!(known("qqqqqqqqqq: 1\n"), keys(&schema));
    for section in ["daemon", "telemetry", "undo", "approvals", "ledger"] {
        assert_eq!(
            known(&format!("{section}: {{qqqqqqqqqq: 1}}\n")),
            keys(&schema["properties"][section]),
            "{section}"
        );
    }
    assert_eq!(known("hooks: {qqqqqqqqqq: 1}\n"), keys(&schema["properties"]["hooks"]["oneOf"][2]));
    assert_eq!(known("notify: [{qqqqqqqqqq: 1}]\n"), keys(&schema["$defs"]["target"]));
    // One hook for each key, so that one run of the program checks all of them.
    let hooks = |keys: &[&str]| {
        let hook = |key: &&str| format!("  - {{id: a-{key}, on: PreToolUse, command: x, {key}: 1}}\n");
        check(&test, &format!("hooks:\n{}", keys.iter().map(hook).collect::<String>()))
    };
    let known = hooks(&keys(&schema["$defs"]["hook"]));
    assert!(!known.contains("unknown key"), "{known}");
    let unknown = hooks(&["qqqqqqqqqq"]);
    assert!(unknown.contains("unknown key `qqqqqqqqqq`"), "{unknown}");
}
