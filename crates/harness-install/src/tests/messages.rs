// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Messages that are shown before anything is written.

use super::*;

// seed: 001-011
#[test]
fn planning_writes_nothing_and_the_diff_is_complete() {
    let world = SettingsWorld::with("{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"Stop\": []\n  }\n}");
    let tree = world.tree();
    let plan = world.plan().expect("plans");
    assert_eq!(world.tree(), tree);
    let diff = plan.diff().replace(&*world.root.path().to_string_lossy(), "");
    assert_eq!(
        diff,
        r#"--- /settings.json
+++ /settings.json
@@ -1,6 +1,33 @@
 {
   "hooks": {
-    "PreToolUse": [],
-    "Stop": []
+    "PreToolUse": [
+      {
+        "_tenterhook": true,
+        "matcher": "*",
+        "hooks": [
+          {
+            "type": "command",
+            "command": "'/home/bin/tenterhook-hook' claude-code pre-tool-use",
+            "timeout": 60,
+            "onFailure": "block"
+          }
+        ]
+      }
+    ],
+    "Stop": [
+      {
+        "_tenterhook": true,
+        "hooks": [
+          {
+            "type": "command",
+            "command": "'/home/bin/tenterhook-hook' claude-code stop"
+          }
+        ]
+      }
+    ]
+  },
+  "statusLine": {
+    "type": "command",
+    "command": "'/home/bin/tenterhook-status'"
   }
 }
\ No newline at end of file
"#
    );
    let gone = PlannedChange { path: "/x".into(), before: Some(b"a\n".to_vec()), after: None };
    assert_eq!(gone.diff(), "--- /x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
}

#[test]
fn settings_that_would_disable_our_hooks_are_reported() {
    let notes = |text: &str| SettingsWorld::with(text).plan().expect("plans").notes;
    assert_eq!(
        notes("{\"disableAllHooks\": false, \"hooks\": {\"Stop\": [{\"hooks\": 1}]}}"),
        Vec::<String>::new()
    );
    assert_eq!(notes(""), Vec::<String>::new());
    assert_eq!(
        notes("{\n  \"disableAllHooks\": true\n}"),
        ["`disableAllHooks` is true (line 2, column 22), so no hook will run: set it to false or remove it"]
    );
    let ignored = "and Claude Code then ignores the whole file, including Tenterhook's hooks";
    assert_eq!(
        notes("{\n  // why\n}"),
        [format!(
            "the settings hold comments or trailing commas (line 2, column 3), {ignored}: make it plain JSON"
        )]
    );
    let entries = r#"{"hooks": {"PreToolUse": [
        {"hooks": [{"type": "command", "command": "ok", "timeout": 5}, {"type": "shell"}]},
        {"matcher": 1, "hooks": [{"type": "http", "timeout": "abc"}]},
        {"hooks": [{"command": "x"}, {"type": "command"}, {"type": 7}, 3]}, {}, "x"]}}"#;
    let place = |path: &str, what: &str, line, column| {
        format!(
            "`hooks.PreToolUse{path}` {what} (line {line}, column {column}), {ignored}: correct or remove that entry"
        )
    };
    assert_eq!(
        notes(entries),
        [
            place("[0].hooks[1]", "has the unknown type `shell`", 2, 81),
            place("[1].matcher", "is a number, not a string", 3, 21),
            place("[1].hooks[0]", "has a string for a timeout", 3, 62),
            place("[2].hooks[0]", "has no type", 4, 20),
            place("[2].hooks[1]", "has no string `command`", 4, 38),
            place("[2].hooks[2]", "has a number for a type", 4, 68),
            place("[2].hooks[3]", "is a number, not an object", 4, 72),
            place("[3]", "has no array `hooks`", 4, 77),
            place("[4]", "is a string, not an object", 4, 81),
        ]
    );
}

#[test]
fn settings_elsewhere_that_cannot_be_read_are_named() {
    let root = tempfile::tempdir().expect("a directory");
    let path = root.path().join("settings.json");
    let warnings = || crate::hooks::elsewhere(std::slice::from_ref(&path), Path::new(""), |_, _| Vec::new());
    assert_eq!(warnings(), [], "nothing is there");
    fs::write(&path, "").expect("writes");
    assert_eq!(warnings(), [], "it says nothing");
    for broken in [&b"{\"hooks\": "[..], b"\"\xff\""] {
        fs::write(&path, broken).expect("writes");
        let [warning] = &warnings()[..] else { panic!("{:?}", warnings()) };
        assert!(warning.message.contains("settings.json"), "{warning:?}");
        assert!(warning.message.ends_with("it is unknown whether that file disables hooks"), "{warning:?}");
    }
}
