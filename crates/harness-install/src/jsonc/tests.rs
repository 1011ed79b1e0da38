// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::{
    CreatedContainers, EditedText, HookSettingsEntry, HookSignature, JsonNode, JsoncSource, check, count,
    insert, remove,
};

const OURS: HookSignature = HookSignature {
    marker: Some("_tenterhook"),
    is_our_command: |command| command.starts_with("'/h/bin/tenterhook-hook' "),
    comes_last: false,
};

fn entry(event: &str, timeout: u64) -> HookSettingsEntry {
    let handler = JsonNode::object([
        ("type", JsonNode::text("command")),
        ("command", JsonNode::text(format!("'/h/bin/tenterhook-hook' claude-code {event}"))),
        ("timeout", JsonNode::Number(timeout)),
    ]);
    let group =
        JsonNode::object([("_tenterhook", JsonNode::Bool(true)), ("hooks", JsonNode::List(vec![handler]))]);
    HookSettingsEntry { event: event.into(), group }
}

fn put(text: &str, events: &[&str]) -> EditedText {
    let entries: Vec<_> = events.iter().map(|event| entry(event, 60)).collect();
    let edited = insert(text, &entries, &OURS, &CreatedContainers::default()).expect(text);
    check(&edited.text, &entries, &OURS).expect(text);
    let again = insert(&edited.text, &entries, &OURS, &edited.created).expect(text);
    assert_eq!(again, edited, "a second insert changes nothing");
    edited
}

/// Inserts, compares, and removes again; the removal must restore the exact text.
fn assert_inserted_and_removed(text: &str, events: &[&str], expected: &str) {
    let edited = put(text, events);
    assert_eq!(edited.text, expected);
    assert_eq!(remove(&edited.text, &OURS, &edited.created).expect("removes").text, text);
}

fn refused(text: &str) -> (usize, usize, String) {
    let flaw = insert(text, &[entry("Stop", 60)], &OURS, &CreatedContainers::default()).expect_err(text);
    (flaw.line, flaw.column, flaw.what)
}

#[test]
fn an_empty_object_gets_two_spaces() {
    assert_inserted_and_removed(
        "{}\n",
        &["Stop"],
        r#"{
  "hooks": {
    "Stop": [
      {
        "_tenterhook": true,
        "hooks": [
          {
            "type": "command",
            "command": "'/h/bin/tenterhook-hook' claude-code Stop",
            "timeout": 60
          }
        ]
      }
    ]
  }
}
"#,
    );
}

#[test]
fn a_text_without_a_value_becomes_an_object() {
    let expected = put("{}\n", &["Stop"]).text;
    for blank in ["", " ", "\n", "\n\t \n"] {
        assert_eq!(put(blank, &["Stop"]).text, expected);
    }
    assert_eq!(put("\u{feff}", &["Stop"]).text, format!("\u{feff}{expected}"));
    assert_eq!(put("// mine", &["Stop"]).text, format!("// mine\n{expected}"));
    assert_eq!(put("\r\n", &["Stop"]).text, expected.replace('\n', "\r\n"));
}

#[test]
fn the_indentation_of_the_file_is_used() {
    assert_inserted_and_removed(
        "{\n\t\"a\": 1\n}",
        &["Stop"],
        "{\n\t\"a\": 1,\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n\t\t\t\t\"_tenterhook\": true,\n\t\t\t\t\"hooks\": [\n\
         \t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n\
         \t\t\t\t\t\t\"command\": \"'/h/bin/tenterhook-hook' claude-code Stop\",\n\
         \t\t\t\t\t\t\"timeout\": 60\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}",
    );
    let four = put("{\n    \"a\": 1\n}", &["Stop"]).text;
    assert!(four.contains("\n    \"hooks\": {\n        \"Stop\": [\n            {\n"), "{four}");
    let inherited = put("{ \"a\": {\n   \"b\": 1 } }", &["Stop"]).text;
    assert!(
        inherited.contains("\"a\": {\n   \"b\": 1 }, \"hooks\": {\n   \"Stop\": [\n      {"),
        "{inherited}"
    );
}

#[test]
fn line_endings_are_kept() {
    let text = "{\r\n  \"a\": 1\r\n}\r\n";
    let edited = put(text, &["Stop", "PreToolUse"]);
    assert_eq!(edited.text.matches('\n').count(), edited.text.matches("\r\n").count());
    assert_eq!(remove(&edited.text, &OURS, &edited.created).expect("removes").text, text);
    let old_mac = put("{\r \"a\": 1\r}\r", &["Stop"]).text;
    assert!(!old_mac.contains('\n'));
}

#[test]
fn a_file_on_one_line_stays_on_one_line() {
    let group = r#"{"_tenterhook":true,"hooks":[{"type":"command","command":"'/h/bin/tenterhook-hook' claude-code Stop","timeout":60}]}"#;
    assert_inserted_and_removed(
        r#"{"a":1}"#,
        &["Stop"],
        &format!(r#"{{"a":1,"hooks":{{"Stop":[{group}]}}}}"#),
    );
    assert_inserted_and_removed(
        r#"{"hooks":{}}"#,
        &["Stop"],
        &format!(r#"{{"hooks":{{"Stop":[{group}]}}}}"#),
    );
    assert_inserted_and_removed(
        r#"{"hooks":{"Stop":[]}}"#,
        &["Stop"],
        &format!(r#"{{"hooks":{{"Stop":[{group}]}}}}"#),
    );
    let spaced = group.replace(':', ": ").replace(',', ", ");
    assert_inserted_and_removed(
        r#"{ "a": 1 }"#,
        &["Stop"],
        &format!(r#"{{ "a": 1, "hooks": {{"Stop": [{spaced}]}} }}"#),
    );
}

#[test]
fn a_trailing_comma_stays_one() {
    let text = "{\n  \"a\": 1,\n}\n";
    let edited = put(text, &["Stop"]);
    assert!(edited.text.starts_with("{\n  \"a\": 1,\n  \"hooks\": {\n"));
    assert!(edited.text.ends_with("\n  },\n}\n"));
    assert_eq!(remove(&edited.text, &OURS, &edited.created).expect("removes").text, text);
}

#[test]
fn foreign_groups_and_comments_keep_their_place() {
    for text in [
        "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [] } // mine\n    ]\n  }\n}",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      // first\n      { \"hooks\": [] }, /* after */\n      // last\n    ]\n  }\n}",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[]}// mine\n]}}",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[]},// mine\n]}}",
        "{ // one\n  \"hooks\": /* two */ { // three\n    \"Stop\": [{\n      \"hooks\": []\n    }] // four\n  }\n}",
        "{\n  \"a\": 1 // tail\n}",
        "{\n  \"a\": 1, // tail\n  // more\n}",
    ] {
        let edited = put(text, &["PreToolUse", "Stop"]);
        assert_eq!(remove(&edited.text, &OURS, &edited.created).expect("removes").text, text);
    }
}

#[test]
fn a_line_comment_never_swallows_what_follows() {
    let ours = r#"{"_tenterhook":true,"hooks":[]}"#;
    for text in [
        format!("{{\"hooks\":{{\"Stop\":[ // c\n {ours}, {{}} ]}}}}"),
        format!("{{\"hooks\":{{\"Stop\":[ // c\n {ours},\n {ours} ]}}}}"),
        format!("{{\"hooks\":{{\"Stop\":[ // c\n {ours}]}}}}"),
        format!("{{\"hooks\":{{\"Stop\":[{{}}, // c\n {ours}]}}}}"),
        format!("{{\"hooks\":{{\"Stop\":[ // c\n {ours} // d\n , // e\n {{}} ]}}}}"),
        format!("{{\"hooks\":{{\"Stop\":[ {ours} /* d */ , {ours} /* e */, ]}}}}"),
    ] {
        let removed = remove(&text, &OURS, &CreatedContainers::default()).expect("removes").text;
        assert_eq!(count(&removed, &OURS), Ok(0), "{removed}");
        assert_eq!(removed.matches("//").count(), text.matches("//").count(), "{removed}");
        assert_eq!(removed.matches("{}").count(), text.matches("{}").count(), "{removed}");
    }
}

#[test]
fn only_containers_we_created_are_removed() {
    let text = "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";
    let edited = put(text, &["Stop", "PreToolUse"]);
    assert_eq!(
        edited.created,
        CreatedContainers { events: ["PreToolUse".to_owned()].into(), ..CreatedContainers::default() }
    );
    assert_eq!(remove(&edited.text, &OURS, &edited.created).expect("removes").text, text);
    let without_receipt = remove(&edited.text, &OURS, &CreatedContainers::default()).expect("removes").text;
    assert_eq!(without_receipt, "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"PreToolUse\": []\n  }\n}\n");
}

#[test]
fn a_created_container_stays_if_other_entries_were_added() {
    let edited = put("{}\n", &["Stop", "PreToolUse"]);
    let shared = edited.text.replacen("    \"Stop\": [\n", "    \"Stop\": [\n      { \"hooks\": [] },\n", 1);
    let removed = remove(&shared, &OURS, &edited.created).expect("removes").text;
    assert_eq!(removed, "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [] }\n    ]\n  }\n}\n");
    let commented = edited.text.replacen("    \"Stop\": [\n", "    \"Stop\": [ // mine\n", 1);
    let removed = remove(&commented, &OURS, &edited.created).expect("removes").text;
    assert_eq!(removed, "{\n  \"hooks\": {\n    \"Stop\": [ // mine\n    ]\n  }\n}\n");
}

#[test]
fn an_older_entry_is_updated_in_place() {
    let text = "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"_tenterhook\": true, \"hooks\": [] },\n      \
                { \"hooks\": [] }\n    ]\n  }\n}\n";
    let edited = put(text, &["Stop"]).text;
    assert!(edited.find("_tenterhook").expect("ours") < edited.find("{ \"hooks\": [] }").expect("theirs"));
    assert_eq!(count(&edited, &OURS), Ok(1));
    let old = insert("{}", &[entry("Stop", 5), entry("Gone", 5)], &OURS, &CreatedContainers::default())
        .expect("inserts");
    let new = insert(&old.text, &[entry("Stop", 60)], &OURS, &old.created).expect("updates");
    assert_eq!(
        new,
        insert("{}", &[entry("Stop", 60)], &OURS, &CreatedContainers::default()).expect("inserts")
    );
}

#[test]
fn copies_of_an_entry_are_reduced_to_one() {
    let once = put("{}", &["Stop"]);
    let source = JsoncSource::parse(&once.text).expect("parses");
    let group =
        source.hooks().expect("hooks").expect("hooks").get_array("Stop").expect("array").elements[0].clone();
    let range = jsonc_parser::common::Ranged::range(&group);
    let mut twice = once.text.clone();
    let copy = format!(", {}", once.text.get(range.start..range.end).expect("the group"));
    twice.insert_str(range.end, &copy);
    assert_eq!(count(&twice, &OURS), Ok(2));
    assert_eq!(insert(&twice, &[entry("Stop", 60)], &OURS, &once.created).expect("inserts"), once);
}

#[test]
fn an_entry_whose_marker_the_client_dropped_is_still_ours() {
    let edited = put("{}", &["Stop"]);
    let stripped = edited.text.replace("\"_tenterhook\": true,\n        ", "");
    assert!(!stripped.contains("_tenterhook"));
    assert_eq!(count(&stripped, &OURS), Ok(1));
    assert_eq!(insert(&stripped, &[entry("Stop", 60)], &OURS, &edited.created).expect("inserts"), edited);
    assert_eq!(remove(&stripped, &OURS, &edited.created).expect("removes").text, "{}");
}

#[test]
fn a_foreign_handler_in_our_group_survives() {
    let edited = put("{}", &["Stop"]).text;
    let theirs = "{ \"type\": \"command\", \"command\": \"mine\" }";
    let shared = edited.replacen(
        "\"hooks\": [\n          {",
        &format!("\"hooks\": [\n          {theirs},\n          {{"),
        1,
    );
    let removed = remove(&shared, &OURS, &CreatedContainers::default()).expect("removes").text;
    let expected = format!(
        "{{\n  \"hooks\": {{\n    \"Stop\": [\n      {{\n        \"hooks\": [\n          {theirs}\n        ]\n      }}\n    ]\n  }}\n}}"
    );
    assert_eq!(removed, expected);
    let again =
        insert(&shared, &[entry("Stop", 60)], &OURS, &CreatedContainers::default()).expect("inserts").text;
    check(&again, &[entry("Stop", 60)], &OURS).expect("one entry of ours");
    assert!(again.contains(theirs));
}

#[test]
fn what_cannot_be_edited_is_refused_with_its_place() {
    assert_eq!(refused("{\n  \"a\": }"), (2, 8, "unexpected close brace".into()));
    assert_eq!(refused("[]"), (1, 1, "the settings must be an object, found an array".into()));
    assert_eq!(refused("{\r\n \"hooks\": []}"), (2, 11, "`hooks` must be an object, found an array".into()));
    assert_eq!(refused("{\"hooks\": null}"), (1, 11, "`hooks` must be an object, found null".into()));
    let what = "`hooks.Stop` must be an array, found an object";
    assert_eq!(refused("{\"hooks\": {\"Stop\": {}}}"), (1, 20, what.into()));
    assert_eq!(refused("{\"hooks\": {},\n\"\\u0068ooks\": {}}"), (2, 1, "duplicate key `hooks`".into()));
    assert_eq!(refused("{\"x\": [{\"ü\": 1, \"ü\": 2}]}"), (1, 17, "duplicate key `ü`".into()));
    for text in [
        "{",
        "{} {}",
        "{'a': 1}",
        "{a: 1}",
        "{\"a\" 1}",
        "{\"a\": 1 \"b\": 2}",
        "{\"a\": 0x1}",
        "/* {}",
        "{\"a\": NaN}",
    ] {
        refused(text);
    }
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    refused(&deep);
}

#[test]
fn other_events_may_hold_anything() {
    let text = "{\"hooks\":{\"Later\":{\"x\":1},\"Stop\":[1,null,\"x\",{\"hooks\":7}]}}";
    let edited = put(text, &["Stop"]);
    assert_eq!(remove(&edited.text, &OURS, &edited.created).expect("removes").text, text);
}

/// A small seeded generator of JSON with comments: unusual layouts, nested values and hooks of other programs.
pub(crate) struct SettingsGenerator(pub(crate) u64);

impl SettingsGenerator {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn gap(&mut self, style: u64) -> String {
        match self.roll(if style == 0 { 3 } else { 12 }) {
            0..=4 => ["", " ", "\n  ", "\r\n\t", "\n\n"][usize::try_from(style).expect("small")].into(),
            5 => " // note, \"x\": [{\n".into(),
            6 => "/* } ] , */".into(),
            7 => "\t".into(),
            8 => "\n    ".into(),
            _ => String::new(),
        }
    }

    fn list(&mut self, style: u64, brackets: [&str; 2], items: &[String]) -> String {
        let mut text = brackets[0].to_owned() + &self.gap(style);
        for (index, item) in items.iter().enumerate() {
            text += item;
            text += &self.gap(style);
            if index + 1 < items.len() || self.roll(5) == 0 {
                text += ",";
                text += &self.gap(style);
            }
        }
        text + brackets[1]
    }

    fn property(&mut self, style: u64, name: &str, value: &str) -> String {
        format!("\"{name}\"{}:{}{value}", self.gap(style), self.gap(style))
    }

    fn value(&mut self, style: u64, depth: u64) -> String {
        match self.roll(if depth == 0 { 4 } else { 6 }) {
            0 => "\"// no comment, \\\" } é\"".into(),
            1 => "-1.5e3".into(),
            2 => "null".into(),
            3 => "true".into(),
            4 => {
                let items: Vec<_> = (0..self.roll(4)).map(|_| self.value(style, depth - 1)).collect();
                self.list(style, ["[", "]"], &items)
            }
            _ => self.object(style, depth),
        }
    }

    fn object(&mut self, style: u64, depth: u64) -> String {
        let mut items = Vec::new();
        for number in 0..self.roll(4) {
            let value = self.value(style, depth.saturating_sub(1));
            items.push(self.property(style, &format!("k{number}"), &value));
        }
        self.list(style, ["{", "}"], &items)
    }

    pub(crate) fn settings(&mut self) -> String {
        let style = self.roll(5);
        let mut items = vec![];
        for number in 0..self.roll(3) {
            let value = self.value(style, 3);
            items.push(self.property(style, &format!("k{number}"), &value));
        }
        if self.roll(3) > 0 {
            let mut events = Vec::new();
            for event in ["Stop", "PreToolUse", "Foreign"] {
                if self.roll(2) == 0 {
                    let groups: Vec<_> = (0..self.roll(4)).map(|_| self.object(style, 2)).collect();
                    let groups = self.list(style, ["[", "]"], &groups);
                    events.push(self.property(style, event, &groups));
                }
            }
            let hooks = self.list(style, ["{", "}"], &events);
            let at = usize::try_from(self.roll(items.len() as u64 + 1)).expect("small");
            items.insert(at, self.property(style, "hooks", &hooks));
        }
        let mark = if self.roll(4) == 0 { "\u{feff}" } else { "" };
        let root = self.list(style, ["{", "}"], &items);
        format!("{mark}{}{root}{}", self.gap(style), self.gap(style))
    }
}

impl SettingsGenerator {
    /// A TOML file with random content.
    pub(crate) fn toml(&mut self) -> String {
        let newline = if self.roll(4) == 0 { "\r\n" } else { "\n" };
        let mut text = String::new();
        let mut lines = vec!["model = \"m\"".to_owned(), "# why".into(), String::new()];
        match self.roll(5) {
            0 => lines.push("features.other = true # mine".into()),
            1 => lines.push("features = { other = true }".into()),
            2 => lines.push("features = {}".into()),
            _ => lines.push("note = '''\n[features]\nhooks = false\n'''".into()),
        }
        let has_features = lines.iter().any(|line| line.starts_with("features"));
        for table in ["[mcp_servers.x]", "[features]", "[hooks.state.\"/x:stop:0:0\"]", "[projects.\"/a b\"]"]
        {
            if self.roll(2) == 0 || (table == "[features]" && has_features) {
                continue;
            }
            lines.push(if self.roll(2) == 0 { table.to_owned() } else { format!("  {table} # t") });
            for number in 0..self.roll(3) {
                lines.push(format!("k{number} = [ 1,{newline}  2, # two{newline}]"));
            }
            if table == "[features]" && self.roll(2) == 0 {
                lines.push("hooks=false".into());
            }
            lines.extend((0..self.roll(3)).map(|_| String::new()));
        }
        for line in &lines {
            text += line;
            text += newline;
        }
        if self.roll(3) == 0 { text.trim_end().to_owned() } else { text }
    }
}

fn value_of(text: &str) -> Option<jsonc_parser::JsonValue<'_>> {
    let options = jsonc_parser::ParseOptions::default();
    jsonc_parser::parse_to_value(super::split_mark(text).1, &options).expect("parses")
}

fn solid(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn any_text_survives_insert_and_remove() {
    for seed in 0..1000 {
        let mut dice = SettingsGenerator(seed * 7919 + 1);
        let text = dice.settings();
        let edited = put(&text, &["PreToolUse", "Stop", "SessionStart"]);
        let removed = remove(&edited.text, &OURS, &edited.created).expect("removes");
        assert_eq!(removed.created, CreatedContainers::default(), "seed {seed}");
        assert_eq!(count(&removed.text, &OURS), Ok(0), "seed {seed}");
        assert_eq!(solid(&removed.text), solid(&text), "seed {seed}: only white space may differ");
        assert_eq!(value_of(&removed.text), value_of(&text), "seed {seed}");

        // Updates and removes an older install that has events which no longer exist.
        let old = put(&text, &["Setup", "Stop"]);
        let new = insert(&old.text, &[entry("Stop", 9), entry("PreToolUse", 9)], &OURS, &old.created)
            .expect("updates");
        check(&new.text, &[entry("PreToolUse", 9), entry("Stop", 9)], &OURS).expect("updated");
        let removed = remove(&new.text, &OURS, &new.created).expect("removes").text;
        assert_eq!(solid(&removed), solid(&text), "seed {seed}: after an update");
    }
}
