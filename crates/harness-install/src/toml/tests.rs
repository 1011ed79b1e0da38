// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|&key| key.to_owned()).collect()
}

fn settings() -> TomlSettings {
    let state = ["hooks", "state", "/h/.codex/hooks.json:pre_tool_use:0:0"];
    TomlSettings {
        wanted: vec![
            TomlSetting { table: path(&["features"]), key: "hooks".into(), value: "true".into() },
            TomlSetting { table: path(&state), key: "trusted_hash".into(), value: "\"sha256:ab\"".into() },
        ],
        is_ours: |path| path.len() == 3 && path.get(2).is_some_and(|key| key.contains("hooks.json:")),
        known: Vec::new(),
    }
}

const ODD_SETTINGS: &[&str] = &[
    "",
    "\n",
    "# only a comment",
    "model = \"gpt\"",
    "model = \"gpt\"\r\n\r\n[features]\r\nfoo = true # why\r\n",
    "[features]",
    "[features] # mine",
    "[features]\nhooks = false # off\nother = 1\n",
    "features = { hooks = false }\n",
    "features = {}\nx = 1\n",
    "features = { other = true }\n",
    "features.other = true\nx = 1\n",
    "x = 1\n  features.other = true\n[z]\n",
    "[features.sub]\na = 1\n",
    "[projects.\"/a b\"]\ntrust_level = \"trusted\"\n\n\n",
    "[hooks.state.\"/other:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n",
    "[[x]]\na = 1\n[[x]]\na = '''\n[features]\nhooks = false\n'''\n",
    "[mcp_servers.x]\ncommand = \"y\"\nargs = [\n  \"a\", # first\n]   ",
];

// seed: 001-025
#[test]
fn settings_go_in_and_out_without_a_trace() {
    let settings = settings();
    for &text in ODD_SETTINGS {
        let edited = settings.insert(text, &CreatedContainers::default()).expect(text);
        settings.check(text, &edited.text).unwrap_or_else(|what| panic!("{what} in {}", edited.text));
        assert!(
            settings.contains(&edited.text, &CreatedContainers::default()).expect("reads"),
            "{}",
            edited.text
        );
        let again = settings.insert(&edited.text, &edited.created).expect("again");
        assert_eq!(again, edited, "twice is once");
        assert_eq!(settings.remove(&edited.text, &edited.created).expect("takes"), text, "{}", edited.text);
    }
}

// seed: 001-024
#[test]
fn what_is_written_reads_well() {
    let edited =
        settings().insert("model = \"gpt\"\n[features] # mine\n", &CreatedContainers::default()).unwrap();
    assert_eq!(
        edited.text,
        "model = \"gpt\"\n[features] # mine\nhooks = true\n\n\
         [hooks.state.\"/h/.codex/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:ab\"\n"
    );
}

#[test]
fn edits_of_others_in_between_stay() {
    for &text in ODD_SETTINGS {
        let edited = settings().insert(text, &CreatedContainers::default()).expect(text);
        let between = format!("# new\nmine = 1\n{}\n[other]\nx = 1\n", edited.text);
        let left = settings().remove(&between, &edited.created).expect("takes");
        assert!(!settings().contains(&left, &CreatedContainers::default()).expect("reads"), "{left}");
        assert_eq!(left, format!("# new\nmine = 1\n{text}\n[other]\nx = 1\n"));
    }
}

#[test]
fn a_setting_changed_by_the_user_is_kept() {
    let settings = TomlSettings { wanted: settings().wanted.into_iter().take(1).collect(), ..settings() };
    let edited = settings.insert("[features]\nhooks = false\n", &CreatedContainers::default()).unwrap();
    assert_eq!(edited.text, "[features]\nhooks = true\n");
    assert_eq!(
        settings.remove("[features]\nhooks = \"maybe\"\n", &edited.created).unwrap(),
        "[features]\nhooks = \"maybe\"\n"
    );
    assert_eq!(settings.remove("x = 1\n", &edited.created).unwrap(), "x = 1\n");
}

#[test]
fn invalid_toml_is_refused_with_its_position() {
    for (text, line) in
        [("a = \n", 1), ("x = 1\n[features\n", 2), ("hooks.state = 1\n", 1), ("\nfeatures = 1\n", 2)]
    {
        let flaw = settings().insert(text, &CreatedContainers::default()).expect_err(text);
        assert_eq!(flaw.line, line, "{flaw:?}");
    }
}
