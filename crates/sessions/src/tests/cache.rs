// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::session_cache::{MAX_FULL_SESSIONS, MAX_SESSIONS};

fn list(projector: &SessionProjector, wanted: &SessionFilter) -> Value {
    serde_json::to_value(projector.list(wanted, Timestamp::from_unix_ms(1))).unwrap()
}

#[test]
fn the_number_of_sessions_is_bounded_and_the_oldest_go_first() {
    let feed = SessionFeed::new();
    for number in 0..=u64::try_from(MAX_SESSIONS).unwrap() {
        feed.apply(&event(&format!("s{number}"), number + 1, EventKind::Stop), Decision::None);
    }
    let count = feed.projector.count();
    assert!(count <= MAX_SESSIONS && count > MAX_SESSIONS * 9 / 10, "{count}");
    assert!(feed.projector.find("s0").is_none());
    assert!(feed.projector.find(&format!("s{MAX_SESSIONS}")).is_some());
    assert!(feed.projector.find(&format!("claude-code:s{MAX_SESSIONS}")).is_some());
}

#[test]
fn of_older_sessions_only_the_numbers_are_kept() {
    let feed = SessionFeed::new();
    let number = u64::try_from(MAX_FULL_SESSIONS * 2).unwrap();
    for session in 0..=number {
        let name = format!("s{session}");
        let mut prompt = event(&name, session + 1, EventKind::Prompt);
        prompt.detail.prompt = Some("ü".repeat(1000));
        feed.apply(&prompt, Decision::None);
        let read = json!({"file_path": format!("/work/{session}")});
        feed.apply(&tool(&name, session + 1, "Read", read), Decision::None);
    }
    let found = |name: &str| details(&feed.projector, name, number).unwrap();
    let (old, new) = (found("s0"), found(&format!("s{number}")));
    assert_eq!((&old["files"]["read"], &new["files"]["read"]), (&json!(1), &json!(1)));
    assert_eq!(old["touched"].as_array().unwrap().len(), 0);
    assert_eq!(new["touched"][0]["path"], format!("/work/{number}"));
    assert_eq!(old["last_prompt"].as_str().unwrap().chars().count(), 100);
    assert_eq!(new["last_prompt"].as_str().unwrap().chars().count(), 1000);
    assert_eq!(
        (feed.projector.find("s0").unwrap().1, feed.projector.find(&format!("s{number}")).unwrap().1),
        (false, true)
    );
    feed.apply(&event("s0", number + 9, EventKind::Stop), Decision::None);
    let cold: Vec<_> = feed.projector.take_stale().into_iter().map(|key| key.id).collect();
    assert_eq!(cold, ["s0"], "it has a new event, so it must be reloaded");
}

#[test]
fn pages_follow_one_another_without_a_gap() {
    let feed = SessionFeed::new();
    for number in 0..25_u64 {
        // Every two sessions have the same time.
        feed.apply(&event(&format!("s{number:02}"), number / 2 + 1, EventKind::Stop), Decision::None);
    }
    let mut wanted = SessionFilter { limit: 7, ..SessionFilter::default() };
    let mut seen = Vec::new();
    loop {
        let page = list(&feed.projector, &wanted);
        assert_eq!(page["all"], 25);
        seen.extend(
            page["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|session| session["id"].as_str().unwrap().to_owned()),
        );
        match page["next"].as_str() {
            Some(next) => wanted.after = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!((seen.len(), seen[0].as_str()), (25, "s24"));
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 25);
    let since =
        SessionFilter { since: Some(Timestamp::from_unix_ms(12)), limit: 100, ..SessionFilter::default() };
    assert_eq!(list(&feed.projector, &since)["all"], 3);
    let other = SessionFilter { harness: Some("codex".into()), limit: 100, ..SessionFilter::default() };
    assert_eq!(list(&feed.projector, &other), json!({"sessions": [], "all": 0, "next": null}));
}
