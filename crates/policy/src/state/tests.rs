// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

#[test]
fn a_session_remembers_no_more_than_it_needs() {
    let mut state = SessionState::default();
    for stamp in 0..100 {
        let needed = BTreeMap::from([("r".to_owned(), 3)]);
        let labels = vec![format!("label-{stamp}")];
        state.apply(&StateDelta {
            labels,
            matched: vec![("r".to_owned(), stamp)],
            needed,
            ..StateDelta::default()
        });
    }
    assert_eq!(state.matched["r"], [97, 98, 99]);
    assert_eq!(state.labels.len(), MAX_LABELS);
    assert_eq!(state.matches_within("r", 10, 107), 2);
    state.apply(&StateDelta { labels: vec!["label-0".into(), "late".into()], ..StateDelta::default() });
    assert!(state.labels.contains("label-0") && !state.labels.contains("late"));
}

#[test]
fn a_label_ends_unless_a_rule_gives_it_for_the_whole_session() {
    let mut state = SessionState::default();
    let delta = |end: Option<u64>| StateDelta {
        labels: vec!["a".to_owned()],
        label_ends: end.map(|end| ("a".to_owned(), end)).into_iter().collect(),
        ..StateDelta::default()
    };
    state.apply(&delta(Some(20)));
    state.apply(&delta(Some(10)));
    assert_eq!((state.labels(19).count(), state.labels(20).count()), (1, 0), "the latest end applies");
    state.apply(&delta(None));
    state.apply(&delta(Some(30)));
    assert_eq!(state.labels(1_000_000).count(), 1);
}

#[test]
fn a_downloaded_file_stays_downloaded() {
    let mut state = SessionState::default();
    let delta = |origin| StateDelta {
        files: vec![SessionFileChange::Origin("/x".to_owned(), origin)],
        ..StateDelta::default()
    };
    state.apply(&delta(FileOrigin::Downloaded));
    state.apply(&delta(FileOrigin::Written));
    assert_eq!(state.files["/x"], FileOrigin::Downloaded);
    let many = (0..300).map(|at| SessionFileChange::Origin(format!("/{at}"), FileOrigin::Written)).collect();
    state.apply(&StateDelta { files: many, ..StateDelta::default() });
    assert_eq!(state.files.len(), MAX_SESSION_FILES);
}

#[test]
fn a_state_that_would_become_too_large_is_incomplete() {
    let mut state = SessionState::default();
    let apply = |state: &mut SessionState, change: SessionFileChange| {
        state.apply(&StateDelta { files: vec![change], ..StateDelta::default() });
    };
    let copy = |at: usize, length: usize| {
        SessionFileChange::Copied(format!("/{at}/{}", "a".repeat(length)), "/e".to_owned())
    };
    apply(&mut state, copy(0, 100));
    assert!(!state.is_incomplete && state.matches_within("r", 1, 1) == 0);
    apply(&mut state, copy(1, 5000));
    assert!(state.is_incomplete && state.copies.len() == 1, "no such path can exist");
    assert_eq!(state.matches_within("r", 1, 1), usize::MAX);
    state = SessionState::default();
    for at in 0..300 {
        let path = format!("/{at}/{}", "\u{1}".repeat(4000));
        apply(&mut state, SessionFileChange::Copied(path, "/e".to_owned()));
    }
    assert!(state.is_incomplete && json_size(&state) < 3 * 1024 * 1024);
}

#[test]
fn a_full_state_forgets_what_weakens_verdicts_and_reports_what_strengthens_them() {
    type Change = fn(String) -> SessionFileChange;
    let apply = |state: &mut SessionState, change: SessionFileChange| {
        state.apply(&StateDelta { files: vec![change], ..StateDelta::default() });
    };
    let path = |at: usize| format!("/{at}");
    let mut state = SessionState::default();
    apply(&mut state, SessionFileChange::Creating("/own".to_owned(), "k".to_owned()));
    apply(&mut state, SessionFileChange::Created("/own".to_owned()));
    for at in 0..600 {
        let target = "\u{1}".repeat(4000);
        apply(&mut state, SessionFileChange::Linked(path(at), target));
    }
    assert!(state.is_incomplete && state.created.contains("/own"));
    apply(&mut state, SessionFileChange::Filled("/own".to_owned()));
    assert!(state.created.is_empty(), "the budget is used up");
    let strict: [Change; 5] = [
        |path| SessionFileChange::Copied(path, "/e".to_owned()),
        |path| SessionFileChange::Linked(path, "/e".to_owned()),
        |path| SessionFileChange::Fetched(path, TreeOrigin::Cloned),
        |path| SessionFileChange::Origin(path, FileOrigin::Downloaded),
        |name| SessionFileChange::Shell(statement(&name, "alias x=y")),
    ];
    let weak: [Change; 3] = [
        |path| SessionFileChange::Origin(path, FileOrigin::Written),
        |path| SessionFileChange::Run(path, "0".to_owned()),
        |name| SessionFileChange::Shell(statement(&format!("${name}"), "X=1")),
    ];
    for (changes, expected) in [(&strict[..], true), (&weak[..], false)] {
        for (kind, change) in changes.iter().enumerate() {
            let mut state = SessionState::default();
            (0..=MAX_SESSION_FILES).for_each(|at| apply(&mut state, change(path(at))));
            assert_eq!(state.is_incomplete, expected, "{kind}");
        }
    }
}

fn statement(name: &str, text: &str) -> ShellStatement {
    ShellStatement { name: name.to_owned(), text: text.to_owned(), is_certain: false }
}

#[test]
fn a_definition_is_replaced_only_after_the_new_one_has_run() {
    let mut state = SessionState::default();
    let mut apply = |change| state.apply(&StateDelta { files: vec![change], ..StateDelta::default() });
    let define = |text: &str| {
        SessionFileChange::Shell(ShellStatement {
            name: "$D".to_owned(),
            text: text.to_owned(),
            is_certain: false,
        })
    };
    for text in ["D=1", "D=2", "D=3"] {
        apply(define(text));
    }
    apply(SessionFileChange::ShellRan("$D".to_owned(), "D=2".to_owned()));
    let texts = |state: &SessionState| -> Vec<String> {
        state.shell.iter().map(|known| format!("{}{}", known.text, u8::from(known.is_certain))).collect()
    };
    assert_eq!(texts(&state), ["D=20", "D=30"]);
    let ran = SessionFileChange::ShellRan("$D".to_owned(), "D=3".to_owned());
    state.apply(&StateDelta { files: vec![ran], ..StateDelta::default() });
    assert_eq!(texts(&state), ["D=31"]);
}

#[test]
fn a_clock_that_went_back_does_not_confuse_the_order() {
    let mut state = SessionState::default();
    for stamp in [5, 9, 7] {
        let needed = BTreeMap::from([("r".to_owned(), 2)]);
        state.apply(&StateDelta { matched: vec![("r".to_owned(), stamp)], needed, ..StateDelta::default() });
    }
    assert_eq!(state.matched["r"], [7, 9]);
}
