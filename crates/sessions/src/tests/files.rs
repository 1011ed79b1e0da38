// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

fn changes(feed: &SessionFeed) -> Vec<String> {
    let whole = feed.details(1);
    let text = |change: &Value, key: &str| change[key].as_str().unwrap_or("-").to_owned();
    let line = |change: &Value| {
        let number = |key: &str| change[key].as_u64().map_or("?".to_owned(), |number| number.to_string());
        format!(
            "{} {} {} {} +{} -{} {}",
            text(change, "tool"),
            text(change, "how"),
            text(change, "shown"),
            text(change, "state"),
            number("added"),
            number("removed"),
            text(change, "behind")
        )
    };
    whole["changes"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn files_that_a_command_touches_come_from_its_judge_or_are_read_from_the_record() {
    let command = json!({"command": "cat a.txt > b.txt && rm -f ~/c.txt"});
    let event = tool("s", 1000, "Bash", command);
    let expected = json!({"read": 1, "written": 1, "deleted": 1, "changed": 2, "behind": 0, "left_out": 0});
    let feed = SessionFeed::new();
    feed.apply(&event, Decision::None);
    let read = feed.details(1000);
    assert_eq!(read["files"], expected);
    feed.apply(&tool("t", 1, "Bash", json!({"command": "x".repeat(70_000)})), Decision::None);
    assert_eq!(details(&feed.projector, "t", 1).unwrap()["files"]["left_out"], 1);

    let feed = SessionFeed::new();
    let touch = |path: &str, kind| PathEffect { path: path.into(), kind };
    let touched = [
        touch("/work/a.txt", PathEffectKind::Reads),
        touch("/work/b.txt", PathEffectKind::Writes),
        touch("/home/ada/c.txt", PathEffectKind::Deletes),
    ];
    let judged = DecidedEvent { touched: Some(&touched), ..decided_event(&event, Decision::None, 1) };
    feed.apply_decided(&judged);
    assert_eq!(feed.details(1000), read, "both ways give the same");
    feed.apply_decided(&DecidedEvent { decision: Decision::Deny, seq: 2, ..judged });
    assert_eq!(feed.details(1000)["files"], expected, "what was denied touched nothing");
}

#[test]
fn changes_are_asked_then_done_or_failed() {
    let feed = SessionFeed::new();
    let write = with_id(tool("s", 1, "Write", json!({"file_path": "/work/a", "content": "1\n2\n"})), "w");
    let edit = json!({"file_path": "/work/b", "old_string": "x\ny\n", "new_string": "x\nz\nz\n"});
    let edit = with_id(tool("s", 3, "Edit", edit), "e");
    feed.apply(&write, Decision::None);
    feed.apply(&edit, Decision::None);
    assert_eq!(changes(&feed), ["Write write a asked +2 -? -", "Edit edit b asked +2 -1 -"]);
    let news = feed.apply(&result(&write, json!({"type": "create"})), Decision::None);
    assert_eq!(news.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["tool", "file-changed"]);
    assert_eq!((&news[1].1["path"], &news[1].1["tool_use_id"]), (&json!("/work/a"), &json!("w")));
    let mut failed = result(&edit, json!(null));
    failed.event = EventKind::ToolError;
    failed.detail.error = Some("no such text".into());
    let news = feed.apply(&failed, Decision::None);
    assert_eq!(news.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["tool"]);
    assert_eq!(changes(&feed), ["Write write a done +2 -0 -", "Edit edit b failed +2 -1 -"]);
    let whole = feed.details(9);
    assert_eq!(
        whole["tool_results"]["Edit"],
        json!({"calls": 1, "ok": 0, "failed": 1, "denied": 0, "asked": 0})
    );
    assert_eq!(
        whole["changed_files"],
        json!([{
            "path": "/work/a", "shown": "a", "changes": 1, "tools": ["Write"], "added": 2, "removed": 0, "deleted": false,
            "last": "1970-01-01T00:00:00.002Z", "behind": null,
        }])
    );
}

// seed: 000-057
#[test]
fn every_file_is_listed_once_in_the_order_of_its_first_change() {
    let feed = SessionFeed::new();
    for (ms, path) in [(1, "/work/z"), (2, "/work/a"), (3, "/work/z")] {
        feed.apply(&tool("s", ms, "Write", json!({"file_path": path, "content": "x"})), Decision::None);
    }
    feed.apply(&tool("s", 4, "Bash", json!({"command": "mv a b; sed -i s/x/y/ z; rm b"})), Decision::None);
    let whole = feed.details(9);
    let files = whole["changed_files"].as_array().unwrap().iter();
    let files: Vec<_> = files
        .map(|file| {
            (
                file["shown"].as_str().unwrap(),
                file["changes"].as_u64().unwrap(),
                file["deleted"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(files, [("z", 3, false), ("a", 2, true), ("b", 2, true)]);
    assert_eq!(whole["changed_files"][0]["tools"], json!(["Write", "Bash"]));
}

#[test]
fn a_harness_that_only_reports_results_is_supported() {
    let feed = SessionFeed::new();
    let call = tool("s", 1, "write_file", json!({"file_path": "a", "content": "x"}));
    feed.apply(&result(&call, json!({})), Decision::None);
    assert_eq!(changes(&feed), ["write_file write a done +1 -? -"]);
    assert_eq!(feed.details(9)["calls"], json!({"calls": 1, "ok": 1, "failed": 0, "denied": 0, "asked": 0}));
}

#[test]
fn what_runs_counts_not_what_was_asked() {
    let feed = SessionFeed::new();
    let event = tool("s", 1, "Write", json!({"file_path": "/work/asked", "content": "x"}));
    let runs = json!({"file_path": "/work/runs", "content": "x"});
    feed.apply_decided(&DecidedEvent { input: Some(&runs), ..decided_event(&event, Decision::None, 1) });
    assert_eq!(changes(&feed), ["Write write runs asked +1 -? -"]);
}

#[test]
fn a_file_changed_outside_the_session_is_marked_if_results_contain_it() {
    let feed = SessionFeed::new();
    let edit = |ms: u64, original: &str, old: &str, new: &str| {
        let call =
            tool("s", ms, "Edit", json!({"file_path": "/work/a", "old_string": old, "new_string": new}));
        feed.apply(&call, Decision::None);
        feed.apply(&result(&call, json!({"originalFile": original})), Decision::None);
    };
    let write = tool("s", 1, "Write", json!({"file_path": "/work/a", "content": "one\ntwo\n"}));
    feed.apply(&write, Decision::None);
    feed.apply(&result(&write, json!({"type": "create"})), Decision::None);
    edit(10, "one\ntwo\n", "one", "ONE");
    edit(20, "ONE\ntwo\n", "two", "TWO");
    edit(30, "ONE\nTWO\nthree\n", "three", "THREE");
    let marks = |feed: &SessionFeed| {
        changes(feed).iter().map(|line| line.rsplit_once(' ').unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(marks(&feed), ["-", "-", "-", "unseen"]);
    assert_eq!(feed.details(9)["changed_files"][0]["behind"], "unseen");
    assert_eq!(feed.details(9)["files"]["behind"], 1);
    feed.apply(&tool("s", 40, "Bash", json!({"command": "make fmt"})), Decision::None);
    edit(50, "one\nTWO\nTHREE\n", "one", "1");
    assert_eq!(marks(&feed).last().unwrap(), "command", "it may have been the agent's own command");
    feed.apply(&tool("s", 60, "Bash", json!({"command": "sed -i s/1/2/ a"})), Decision::None);
    edit(70, "2\nTWO\nTHREE\n", "2", "3");
    assert_eq!(marks(&feed).last().unwrap(), "-", "the agent's own command changed it");
    let read = tool("s", 80, "Read", json!({"file_path": "/work/a"}));
    feed.apply(&read, Decision::None);
    let file = json!({"content": "3\nTWO\nTHREE\n", "startLine": 1, "numLines": 3, "totalLines": 3});
    feed.apply(&result(&read, json!({"file": file})), Decision::None);
    edit(90, "4\nTWO\nTHREE\n", "4", "5");
    assert_eq!(marks(&feed).last().unwrap(), "unseen", "it is not what the agent read");
}

#[test]
fn a_change_by_the_user_and_a_refused_edit_are_distinguished() {
    let feed = SessionFeed::new();
    let call = tool("s", 1, "Write", json!({"file_path": "/work/a", "content": "x"}));
    feed.apply(&call, Decision::None);
    feed.apply(&result(&call, json!({"type": "create", "userModified": true})), Decision::None);
    assert_eq!(changes(&feed), ["Write write a done +1 -0 person"]);
    let edit = tool("s", 3, "Edit", json!({"file_path": "/work/a", "old_string": "x", "new_string": "y"}));
    feed.apply(&edit, Decision::None);
    let mut refused = result(&edit, json!(null));
    refused.event = EventKind::ToolError;
    refused.detail.error =
        Some("File has been modified since read, either by the user or by a linter.".into());
    feed.apply(&refused, Decision::None);
    assert_eq!(changes(&feed)[1], "Edit edit a failed +1 -1 unseen");
}

#[test]
fn missing_content_is_reported_as_missing() {
    let feed = SessionFeed::new();
    let event = tool("s", 1, "Write", json!(null));
    feed.apply_decided(&DecidedEvent {
        gone: Some(MissingContent::Erased),
        ..decided_event(&event, Decision::None, 1)
    });
    let mut prompt = event.clone();
    (prompt.event, prompt.tool) = (EventKind::Prompt, None);
    feed.apply_decided(&DecidedEvent {
        gone: Some(MissingContent::Erased),
        ..decided_event(&prompt, Decision::None, 2)
    });
    let whole = feed.details(1);
    assert_eq!((&whole["erased"], &whole["title"]), (&json!(2), &json!(null)));
    assert_eq!(whole["files"]["left_out"], 1, "the file is unknown");
    assert_eq!(
        whole["prompt_texts"],
        json!([{"ts": "1970-01-01T00:00:00.001Z", "seq": 2, "text": null, "gone": "erased"}])
    );
}

// seed: 000-060
#[test]
fn a_call_that_was_refused_permission_changed_nothing() {
    let feed = SessionFeed::new();
    let write = |ms, name: &str| {
        let args = json!({"file_path": format!("/work/{name}"), "content": "1\n"});
        with_id(tool("s", ms, "Write", args), name)
    };
    let (kept, refused, by_id) = (write(1, "kept"), write(2, "refused"), write(3, "by-id"));
    for call in [&kept, &refused, &by_id] {
        feed.apply(call, Decision::None);
    }
    // Claude Code sends no call id with this event.
    let asked = |call: &Event, ms| Event { tool_use_id: None, ..permission(call, ms) };
    let news = feed.apply(&asked(&refused, 4), Decision::Deny);
    assert_eq!((news[0].0, &news[0].1["state"]), ("tool", &json!("denied")));
    feed.apply(&permission(&by_id, 5), Decision::Deny);
    feed.apply(&asked(&kept, 6), Decision::Allow);
    feed.apply(&result(&kept, json!({"type": "create"})), Decision::None);
    assert_eq!(
        changes(&feed),
        [
            "Write write kept done +1 -0 -",
            "Write write refused failed +1 -? -",
            "Write write by-id failed +1 -? -"
        ]
    );
    let whole = feed.details(9);
    let listed: Vec<_> =
        whole["changed_files"].as_array().unwrap().iter().map(|file| &file["shown"]).collect();
    assert_eq!(listed, ["kept"]);
    let counted = json!({"calls": 3, "ok": 1, "failed": 0, "denied": 2, "asked": 0});
    assert_eq!(whole["tool_results"]["Write"], counted);
}

#[test]
fn a_call_at_which_the_turn_ended_changed_nothing() {
    let feed = SessionFeed::new();
    let write = with_id(tool("s", 1, "Write", json!({"file_path": "/work/a", "content": "1\n"})), "w");
    let reason = Some(std::borrow::Cow::Borrowed("enough"));
    feed.apply_decided(&DecidedEvent { stops: true, reason, ..decided_event(&write, Decision::None, 1) });
    let whole = feed.details(9);
    assert_eq!((&whole["changed_files"], &whole["calls"]["denied"]), (&json!([]), &json!(1)));
    assert_eq!(whole["denials"][0]["reason"], "enough");
    // A stop that is decided after the tool ran prevents nothing.
    let edit = with_id(tool("s", 2, "Write", json!({"file_path": "/work/b", "content": "1\n"})), "e");
    feed.apply(&edit, Decision::None);
    feed.apply_decided(&DecidedEvent {
        stops: true,
        ..decided_event(&result(&edit, json!({})), Decision::None, 3)
    });
    assert_eq!(feed.details(9)["calls"], json!({"calls": 2, "ok": 1, "failed": 0, "denied": 1, "asked": 0}));
}

fn permission(call: &Event, ms: u64) -> Event {
    let mut asked = Event { event: EventKind::PermissionRequest, ..call.clone() };
    (asked.ts, asked.native_event) = (Timestamp::from_unix_ms(ms), "PermissionRequest".to_owned());
    asked
}
