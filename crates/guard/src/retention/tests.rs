// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

fn limits(max_age: &str, max_size: &str) -> RetentionLimits {
    let given = |text| Some(text).filter(|text: &&str| !text.is_empty());
    RetentionLimits::parse(given(max_age), given(max_size)).unwrap()
}

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::in_dir(dir.path().to_owned());
    (dir, home)
}

fn problem(text: &str) -> String {
    let (_dir, home) = home();
    std::fs::write(home.settings(), text).unwrap();
    let retention = Retention::read(&home);
    assert!(retention.applied.keeps_everything(), "{text}");
    let problem = retention.problem.unwrap().to_string();
    problem.replace(&format!("{}/", home.config.display()), "")
}

#[test]
fn limits_are_written_with_a_unit() {
    assert_eq!(limits("90d", "").max_age, Some(Duration::from_hours(90 * 24)));
    assert_eq!(limits("2w", ""), limits("14d", ""));
    assert_eq!(limits("", "2GB").max_size, Some(2_000_000_000));
    assert_eq!(limits("", "1GiB").max_size, Some(1 << 30));
    for (written, shown) in [("2000MB", "2GB"), ("1500MB", "1500MB"), ("1024MiB", "1GiB"), ("3TB", "3TB")] {
        assert_eq!(limits("", written).size_text().as_deref(), Some(shown));
    }
    assert_eq!(limits("2w", "100MB").to_string(), "max_age 14d, max_size 100MB");
    assert_eq!(RetentionLimits::default().to_string(), "keep everything");
}

#[test]
fn a_limit_that_cannot_be_used_is_reported_with_its_place_and_removes_nothing() {
    let age = "use days or weeks, such as `90d` or `12w`";
    for (text, message) in [
        ("ledger:\n  retention: 90d\n", "2:14: ledger setting `retention`: `retention` is a map: `{max_age: 90d, max_size: 2GB}`".to_owned()),
        ("ledger:\n  retention: {max_age: 90}\n", format!("2:24: ledger setting `retention`: invalid age `90`: {age}")),
        ("ledger:\n  retention: {max_age: 12h}\n", format!("2:24: ledger setting `retention`: invalid age `12h`: {age}")),
        ("ledger:\n  retention: {max_age: -3d}\n", format!("2:24: ledger setting `retention`: invalid age `-3d`: {age}")),
        ("ledger:\n  retention: {max_age: 99999999999999999999d}\n", "2:24: ledger setting `retention`: invalid age".to_owned()),
        ("ledger:\n  retention: {max_age: 0d}\n", "2:24: ledger setting `retention`: `0d` is too short: records are kept for at least `1d`".to_owned()),
        ("ledger:\n  retention:\n    max_size: 20MB\n", "3:15: ledger setting `retention`: `20MB` is too small: the smallest size is `100MB`".to_owned()),
        ("ledger:\n  retention: {max_size: 2000000000}\n", "2:25: ledger setting `retention`: invalid size `2000000000`: use a whole number of MB, GB, TB, MiB, GiB, TiB, such as `2GB`".to_owned()),
        ("ledger:\n  retention: {max_ages: 90d}\n", "2:15: ledger setting `retention`: unknown key `max_ages`; did you mean `max_age`?".to_owned()),
        ("ledger:\n  retention: {max_age: [90d]}\n", "2:24: ledger setting `retention`: `max_age` is a text such as `90d`".to_owned()),
        ("ledger: [\n", String::new()),
    ] {
        let found = problem(text);
        assert!(found.starts_with(&format!("tenterhook.yaml:{message}")), "{text}: {found}");
    }
}

#[test]
fn shorter_is_what_removes_records_that_were_kept() {
    let none = RetentionLimits::default();
    for (new, old, shorter) in [
        (none, none, false),
        (none, limits("90d", "2GB"), false),
        (limits("90d", ""), none, true),
        (limits("", "2GB"), none, true),
        (limits("90d", ""), limits("90d", ""), false),
        (limits("89d", ""), limits("90d", ""), true),
        (limits("91d", ""), limits("90d", "2GB"), false),
        (limits("", "1GB"), limits("90d", ""), true),
        (limits("91d", "1GB"), limits("90d", "2GB"), true),
    ] {
        assert_eq!(new.is_shorter_than(&old), shorter, "{new} after {old}");
        let applied = new.longer_of(&old);
        assert!(
            !applied.is_shorter_than(&old) && !applied.is_shorter_than(&new),
            "{new} after {old}: {applied}"
        );
    }
    assert_eq!(limits("30d", "3GB").longer_of(&limits("90d", "2GB")), limits("90d", "3GB"));
}

#[test]
fn only_what_was_authorized_is_applied() {
    let (_dir, home) = home();
    let edit = |text: &str| std::fs::write(home.settings(), text).unwrap();
    edit("ledger: {retention: {max_age: 30d}}\n");
    let read = Retention::read(&home);
    assert!(read.applied.keeps_everything());
    let problem = read.problem.unwrap();
    assert!(
        problem
            .to_string()
            .contains("`max_age 30d` is not applied: shorter than what was authorized (keep everything)"),
        "{problem}"
    );
    assert!(format!("{problem:?}").contains("tenterhook ledger retention set --max-age 30d"), "{problem:?}");

    edit("");
    let new = limits("90d", "2GB");
    let text = Retention::edit_settings(&home, &new).unwrap();
    Retention::write(&home, &new, &text, Timestamp::from_unix_ms(0)).unwrap();
    let read = Retention::read(&home);
    assert_eq!((read.applied, read.problem.is_none()), (new, true));

    edit("ledger: {retention: {max_age: 30d, max_size: 3GB}}\n");
    let read = Retention::read(&home);
    assert_eq!(read.applied, limits("90d", "3GB"));
    assert!(read.problem.is_some());

    edit("ledger: {retention: {max_age: 120d}}\n");
    let read = Retention::read(&home);
    assert_eq!((read.applied, read.problem.is_none()), (limits("120d", ""), true), "longer needs nothing");

    std::fs::write(home.retention(), "{}").unwrap();
    let read = Retention::read(&home);
    assert!(read.applied.keeps_everything() && read.problem.unwrap().to_string().contains("retention.json"));
}

#[test]
fn the_setting_is_written_and_the_rest_of_the_file_stays() {
    let new = limits("90d", "2GB");
    let line = "retention: {max_age: 90d, max_size: 2GB}";
    for (before, after) in [
        ("", format!("ledger:\n  {line}\n")),
        ("hooks: [] # none\n", format!("hooks: [] # none\nledger:\n  {line}\n")),
        ("hooks: []", format!("hooks: []\nledger:\n  {line}\n")),
        ("ledger:\nhooks: []\n", format!("ledger:\n  {line}\nhooks: []\n")),
        ("ledger:", format!("ledger:\n  {line}\n")),
        (
            "ledger: # how\n    keep_raw: false # no\nhooks: []\n",
            format!("ledger: # how\n    {line}\n    keep_raw: false # no\nhooks: []\n"),
        ),
        (
            "ledger:\n  retention:\n    # a year\n    max_age: 365d\n\n  keep_raw: false\n",
            format!("ledger:\n  {line}\n\n  keep_raw: false\n"),
        ),
        (
            "ledger:\n  keep_raw: false\n  retention: {max_age: 1d}",
            format!("ledger:\n  keep_raw: false\n  {line}\n"),
        ),
    ] {
        assert_eq!(settings_text::with_retention(before, &new).as_deref(), Some(after.as_str()), "{before}");
    }
    for refused in ["ledger: {keep_raw: false}\n", "[1]\n", "a: [\n"] {
        assert_eq!(settings_text::with_retention(refused, &new), None, "{refused}");
    }
}

#[test]
fn the_setting_is_taken_out_again() {
    let none = RetentionLimits::default();
    for (before, after) in [
        ("hooks: []\n", "hooks: []\n"),
        ("ledger:\n  retention: {max_age: 90d}\nhooks: []\n", "ledger:\nhooks: []\n"),
        (
            "hooks: []\nledger:\n  keep_raw: false\n  retention:\n    max_age: 90d\n",
            "hooks: []\nledger:\n  keep_raw: false\n",
        ),
    ] {
        assert_eq!(settings_text::with_retention(before, &none).as_deref(), Some(after), "{before}");
    }
}
