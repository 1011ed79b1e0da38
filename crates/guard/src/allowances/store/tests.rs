// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const NOW: u64 = 1_800_000_000_000;

fn store() -> (tempfile::TempDir, AllowanceStore) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::in_dir(dir.path().to_owned());
    home.mark_installed().unwrap();
    (dir, AllowanceStore::of(&home))
}

fn call<'a>(digest: &str, session: &'a str, rules: &[&'a str]) -> StoppedCall<'a> {
    StoppedCall {
        digest: digest.to_owned(),
        source: "codex",
        session: Some(session),
        native_event: "PreToolUse",
        tool_use_id: None,
        rules: rules.to_vec(),
    }
}

fn allow(store: &AllowanceStore, call: &StoppedCall<'_>, scope: AllowanceScope) {
    store.add(Allowance::new(call, EventId::from_parts(1, 2), scope, NOW), NOW).unwrap();
}

fn is_allowed(store: &AllowanceStore, call: &StoppedCall<'_>, now_ms: u64) -> bool {
    store.take(call, now_ms).unwrap().is_some()
}

#[test]
fn one_call_is_allowed_once_with_the_same_rules_and_content() {
    let (_dir, store) = store();
    let first = call("d", "s", &["a"]);
    assert!(!is_allowed(&store, &first, NOW));
    allow(&store, &first, AllowanceScope::Once);
    assert!(!is_allowed(&store, &call("other", "s", &["a"]), NOW), "another call");
    assert!(!is_allowed(&store, &call("d", "s", &["a", "b"]), NOW), "one more rule stops it");
    assert!(!is_allowed(&store, &call("d", "s", &[]), NOW), "no rule is named");
    assert!(!is_allowed(&store, &StoppedCall { source: "cursor", ..first.clone() }, NOW), "another harness");
    assert!(is_allowed(&store, &call("d", "new session", &["a"]), NOW));
    assert!(!is_allowed(&store, &first, NOW), "used up");
}

#[test]
fn an_allowance_covers_the_other_events_of_the_same_call() {
    let (_dir, store) = store();
    let first = StoppedCall { tool_use_id: Some("1"), ..call("d", "s", &["a"]) };
    allow(&store, &first, AllowanceScope::Once);
    assert!(is_allowed(&store, &first, NOW));
    let permission = StoppedCall { native_event: "PermissionRequest", tool_use_id: None, ..first.clone() };
    let other = StoppedCall { tool_use_id: Some("2"), ..permission.clone() };
    assert!(!is_allowed(&store, &other, NOW), "the id of another call");
    assert!(!is_allowed(&store, &permission, NOW + MAX_BETWEEN_EVENTS_MS), "too late");
    assert!(is_allowed(&store, &permission, NOW + 1));
    assert!(!is_allowed(&store, &permission, NOW + 2) && !is_allowed(&store, &first, NOW + 2));
}

#[test]
fn an_allowance_ends_with_its_time_and_when_the_clock_is_moved_back() {
    let (_dir, store) = store();
    let lifetime = u64::try_from(ONCE_LIFETIME.as_millis()).unwrap();
    let first = call("d", "s", &["a"]);
    allow(&store, &first, AllowanceScope::Once);
    assert!(!is_allowed(&store, &first, NOW + lifetime));
    assert!(!is_allowed(&store, &first, NOW - MAX_CLOCK_STEP_MS - 1));
    assert!(is_allowed(&store, &first, NOW + lifetime - 1));
}

#[test]
fn a_session_may_repeat_what_its_rules_stopped() {
    let (_dir, store) = store();
    allow(&store, &call("d", "s", &["a"]), AllowanceScope::Session);
    for _ in 0..3 {
        assert!(is_allowed(&store, &call("other", "s", &["a"]), NOW));
    }
    assert!(!is_allowed(&store, &call("d", "t", &["a"]), NOW), "another session");
    assert!(!is_allowed(&store, &StoppedCall { session: None, ..call("d", "s", &["a"]) }, NOW));
    assert!(!is_allowed(&store, &call("d", "s", &["b"]), NOW), "another rule");
}

#[test]
fn only_one_of_many_calls_at_the_same_time_is_allowed() {
    let (_dir, store) = store();
    allow(&store, &call("d", "s", &["a"]), AllowanceScope::Once);
    let allowed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                if is_allowed(&store, &call("d", "s", &["a"]), NOW) {
                    allowed.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(allowed.into_inner(), 1);
}

#[test]
fn a_file_that_this_home_did_not_write_allows_nothing() {
    let (dir, store) = store();
    let first = call("d", "s", &["a"]);
    allow(&store, &first, AllowanceScope::Once);
    let path = dir.path().join("allowances.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for bad in [text.replace("\"d\"", "\"e\""), text.split_once('\n').unwrap().1.to_owned(), String::new()] {
        std::fs::write(&path, bad).unwrap();
        assert!(store.take(&first, NOW).is_err() && store.take(&call("e", "s", &["a"]), NOW).is_err());
    }
    std::fs::write(&path, text).unwrap();
    assert!(is_allowed(&store, &first, NOW));
}
