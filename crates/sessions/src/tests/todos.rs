// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

#[test]
fn lists_of_every_harness_are_understood() {
    for (name, args) in [
        (
            "TodoWrite",
            json!({"todos": [{"content": "a", "status": "completed", "activeForm": "doing a"}, {"content": "b", "status": "in_progress"}, {"content": "c", "status": "pending"}]}),
        ),
        (
            "update_plan",
            json!({"explanation": "x", "plan": [{"step": "a", "status": "completed"}, {"step": "b", "status": "in_progress"}, {"step": "c", "status": "pending"}]}),
        ),
        (
            "write_todos",
            json!({"todos": [{"description": "a", "status": "completed"}, {"description": "b", "status": "in_progress"}, {"description": "c", "status": "pending"}]}),
        ),
        (
            "manage_todo_list",
            json!({"todoList": [{"id": 1, "title": "a", "status": "completed"}, {"id": 2, "title": "b", "status": "in-progress"}, {"id": 3, "title": "c", "status": "not-started"}]}),
        ),
    ] {
        let feed = SessionFeed::new();
        let call = with_id(tool("s", 1, name, args), "t");
        let news = feed.apply(&call, Decision::None);
        assert_eq!(news.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["tool", "todo-update"], "{name}");
        assert_eq!((&news[1].1["progress"], &news[1].1["pending"]), (&json!("1/3"), &json!(1)), "{name}");
        let items = feed.details(1)["todo_items"].clone();
        let items = items.as_array().unwrap().iter();
        let items: Vec<_> =
            items.map(|item| (item["text"].as_str().unwrap(), item["status"].as_str().unwrap())).collect();
        assert_eq!(items, [("a", "completed"), ("b", "in_progress"), ("c", "pending")], "{name}");
        let again = feed.apply(&result(&call, json!({})), Decision::None);
        assert!(again.iter().all(|(kind, _)| *kind != "todo-update"), "{name}: nothing is new");
    }
}

#[test]
fn tasks_get_their_ids_from_the_answer_and_are_changed_by_them() {
    let feed = SessionFeed::new();
    for (number, id) in [(1, "7"), (2, "8")] {
        let args =
            json!({"subject": format!("task {id}"), "description": "d", "activeForm": format!("doing {id}")});
        let call = with_id(tool("s", number * 10, "TaskCreate", args), &format!("c{number}"));
        feed.apply(&call, Decision::None);
        feed.apply(&result(&call, json!({"task": {"id": id}})), Decision::None);
    }
    let failed = with_id(tool("s", 30, "TaskCreate", json!({"subject": "never"})), "c3");
    feed.apply(&failed, Decision::None);
    feed.apply(&Event { event: EventKind::ToolError, ..failed }, Decision::None);
    let update =
        tool("s", 40, "TaskUpdate", json!({"taskId": "8", "status": "in_progress", "subject": "task eight"}));
    feed.apply(&update, Decision::None);
    feed.apply(&result(&update, json!({"success": true})), Decision::None);
    let whole = feed.details(99);
    assert_eq!(
        whole["todo_items"],
        json!([
            {"text": "task 7", "status": "pending", "active_form": "doing 7", "id": "7"},
            {"text": "task eight", "status": "in_progress", "active_form": "doing 8", "id": "8"},
        ])
    );
    assert_eq!(whole["todos"]["progress"], "0/2");
    feed.apply(&tool("s", 50, "TaskUpdate", json!({"taskId": "7", "status": "deleted"})), Decision::None);
    assert_eq!(feed.details(99)["todos"]["all"], 1);
}
