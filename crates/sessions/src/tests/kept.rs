// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::keep::{MOST, WHOLE};

fn list(projector: &Projector, wanted: &SessionFilter) -> Value {
    serde_json::to_value(projector.list(wanted, Timestamp::from_unix_ms(1))).unwrap()
}

#[test]
fn there_are_never_too_many_and_the_oldest_go_first() {
    let told = Teller::new();
    for number in 0..=u64::try_from(MOST).unwrap() {
        told.apply(&event(&format!("s{number}"), number + 1, EventKind::Stop), Decision::None);
    }
    let count = told.projector.count();
    assert!(count <= MOST && count > MOST * 9 / 10, "{count}");
    assert!(told.projector.find("s0").is_none());
    assert!(told.projector.find(&format!("s{MOST}")).is_some());
    assert!(told.projector.find(&format!("claude-code:s{MOST}")).is_some());
}

#[test]
fn of_older_sessions_only_the_numbers_are_kept() {
    let told = Teller::new();
    let number = u64::try_from(WHOLE * 2).unwrap();
    for session in 0..=number {
        let name = format!("s{session}");
        let mut prompt = event(&name, session + 1, EventKind::Prompt);
        prompt.detail.prompt = Some("ü".repeat(1000));
        told.apply(&prompt, Decision::None);
        let read = json!({"file_path": format!("/work/{session}")});
        told.apply(&tool(&name, session + 1, "Read", read), Decision::None);
    }
    let found = |name: &str| whole(&told.projector, name, number).unwrap();
    let (old, new) = (found("s0"), found(&format!("s{number}")));
    assert_eq!((&old["files"]["read"], &new["files"]["read"]), (&json!(1), &json!(1)));
    assert_eq!(old["touched"].as_array().unwrap().len(), 0);
    assert_eq!(new["touched"][0]["path"], format!("/work/{number}"));
    assert_eq!(old["last_prompt"].as_str().unwrap().chars().count(), 100);
    assert_eq!(new["last_prompt"].as_str().unwrap().chars().count(), 1000);
    assert_eq!(
        (told.projector.find("s0").unwrap().1, told.projector.find(&format!("s{number}")).unwrap().1),
        (false, true)
    );
    told.apply(&event("s0", number + 9, EventKind::Stop), Decision::None);
    let cold: Vec<_> = told.projector.take_cold().into_iter().map(|key| key.id).collect();
    assert_eq!(cold, ["s0"], "it goes on, so it has to come back");
}

#[test]
fn pages_follow_one_another_without_a_gap() {
    let told = Teller::new();
    for number in 0..25_u64 {
        // Some at the same moment.
        told.apply(&event(&format!("s{number:02}"), number / 2 + 1, EventKind::Stop), Decision::None);
    }
    let mut wanted = SessionFilter { limit: 7, ..SessionFilter::default() };
    let mut seen = Vec::new();
    loop {
        let page = list(&told.projector, &wanted);
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
    assert_eq!(list(&told.projector, &since)["all"], 3);
    let other = SessionFilter { harness: Some("codex".into()), limit: 100, ..SessionFilter::default() };
    assert_eq!(list(&told.projector, &other), json!({"sessions": [], "all": 0, "next": null}));
}
