// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Symbolic links, modes and owners; and refused installations, which must not change anything.

use super::*;

#[test]
fn a_link_is_followed_and_kept() {
    let world = SettingsWorld::empty();
    let dotfiles = world.root.path().join("dotfiles");
    fs::create_dir(&dotfiles).expect("a directory");
    fs::write(dotfiles.join("claude.json"), "{ }").expect("writes");
    symlink("claude.json", dotfiles.join("link.json")).expect("links");
    symlink("dotfiles/link.json", &world.settings).expect("links");
    world.install();
    assert!(world.settings.is_symlink() && dotfiles.join("link.json").is_symlink());
    assert!(fs::read_to_string(dotfiles.join("claude.json")).expect("reads").contains("_tenterhook"));
    world.uninstall();
    assert_eq!(fs::read_to_string(dotfiles.join("claude.json")).expect("reads"), "{ }");
    assert!(world.settings.is_symlink());
}

#[test]
fn a_link_to_nothing_is_followed_too() {
    let world = SettingsWorld::empty();
    symlink("later/claude.json", &world.settings).expect("links");
    world.install();
    assert!(world.root.path().join("later/claude.json").is_file());
    world.uninstall();
    assert!(world.settings.is_symlink() && !world.root.path().join("later").exists());
    let around = SettingsWorld::empty();
    symlink("settings.json", &around.settings).expect("links");
    assert!(matches!(around.plan(), Err(InstallError::LinkLoop { .. })));
}

#[test]
fn the_mode_is_kept() {
    for mode in [0o640, 0o600, 0o644, 0o664, 0o444] {
        let world = SettingsWorld::with("{}");
        fs::set_permissions(&world.settings, fs::Permissions::from_mode(mode)).expect("mode");
        world.install();
        assert_eq!(fs::metadata(&world.settings).expect("exists").mode() & 0o7777, mode);
        world.uninstall();
        assert_eq!(fs::metadata(&world.settings).expect("exists").mode() & 0o7777, mode);
    }
}

#[test]
fn the_owner_is_kept_where_that_is_allowed() {
    let world = SettingsWorld::with("{}");
    if std::os::unix::fs::chown(&world.settings, Some(12345), Some(23456)).is_err() {
        return;
    }
    world.install();
    let metadata = fs::metadata(&world.settings).expect("exists");
    assert_eq!((metadata.uid(), metadata.gid()), (12345, 23456));
}

#[test]
fn what_cannot_be_edited_stays_untouched() {
    for text in
        ["{", "[]", "{\"hooks\": 1}", "{\"hooks\":{\"Stop\":{}}}", "{\"a\":1,\"a\":2}", "{a: 1}", "\u{0}"]
    {
        let world = SettingsWorld::with(text);
        let tree = world.tree();
        let error = world.plan().expect_err(text);
        assert!(matches!(error, InstallError::Settings { line: 1, .. }), "{error}");
        assert!(error.to_string().starts_with(&format!("`{}` line 1, column ", world.settings.display())));
        assert!(error.hint().is_some());
        assert_eq!((world.text(), world.tree()), (text.to_owned(), tree));
    }
}

#[test]
fn an_invalid_settings_file_is_refused() {
    let world = SettingsWorld::with(b"{\"a\": \"\xff\"}");
    assert!(matches!(world.plan(), Err(InstallError::NotUtf8 { offset: 7, .. })));

    let world = SettingsWorld::empty();
    fs::create_dir(&world.settings).expect("a directory");
    assert!(matches!(world.plan(), Err(InstallError::NotAFile { .. })));

    let world = SettingsWorld::empty();
    let made = std::process::Command::new("mkfifo").arg(&world.settings).status().expect("mkfifo runs");
    assert!(made.success());
    assert!(matches!(world.plan(), Err(InstallError::NotAFile { .. })), "and does not wait for a writer");

    let world =
        SettingsWorld::with(" ".repeat(usize::try_from(file::MAX_SETTINGS_BYTES).expect("small") + 1));
    assert!(matches!(world.plan(), Err(InstallError::TooLarge { .. })));

    let (settings, home) = (Path::new("settings.json"), Path::new("/home"));
    assert!(matches!(plan_install(settings, home, home, &[]), Err(InstallError::RelativePath { .. })));
    assert!(matches!(plan_install(home, settings, home, &[]), Err(InstallError::RelativePath { .. })));
    let odd = std::os::unix::ffi::OsStrExt::from_bytes(b"/\xff");
    let odd = Path::new::<std::ffi::OsStr>(odd);
    assert!(matches!(plan_install(&world.settings, odd, home, &[]), Err(InstallError::PathNotUtf8 { .. })));
}

#[test]
fn a_directory_that_cannot_be_written_leaves_all_as_it_was() {
    let mut world = SettingsWorld::empty();
    let locked = world.root.path().join("locked");
    fs::create_dir(&locked).expect("a directory");
    world.settings = locked.join("settings.json");
    fs::write(&world.settings, "{}").expect("writes");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).expect("mode");
    if fs::write(locked.join("probe"), "").is_ok() {
        // Root can write everywhere, so the write would not fail.
        return;
    }
    let tree = world.tree();
    let error = world.plan().expect("plans").apply().expect_err("locked");
    assert!(error.hint().is_some(), "{error}");
    assert_eq!((world.text().as_str(), world.tree()), ("{}", tree));
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).expect("mode");
}

#[test]
fn a_receipt_that_cannot_be_written_stops_the_install() {
    let world = SettingsWorld::with("{}");
    fs::write(&world.home, "a file where a directory should be").expect("writes");
    let tree = world.tree();
    world.plan().and_then(|plan| plan.apply()).expect_err("no home");
    assert_eq!((world.text().as_str(), world.tree()), ("{}", tree));
}

#[test]
fn a_change_in_the_meantime_is_refused() {
    let world = SettingsWorld::with("{}");
    let plan = world.plan().expect("plans");
    fs::write(&world.settings, "{\"new\":1}").expect("writes");
    let tree = world.tree();
    let error = plan.apply().expect_err("changed");
    assert!(matches!(error, InstallError::Changed { .. }));
    assert_eq!((world.text().as_str(), world.tree()), ("{\"new\":1}", tree));

    let world = SettingsWorld::empty();
    let plan = world.plan().expect("plans");
    fs::write(&world.settings, "{}").expect("writes");
    assert!(matches!(plan.apply(), Err(InstallError::Changed { .. })), "a file that appeared");

    let world = SettingsWorld::with("{}");
    world.install();
    let plan = plan_uninstall(&world.settings, &world.receipts).expect("plans");
    world.edit("60", "61");
    assert!(matches!(plan.apply(), Err(InstallError::Changed { .. })));
    assert!(world.receipts.join("claude-code.json").exists(), "the receipt is still needed");
}

#[test]
fn a_failed_write_leaves_no_receipt_and_no_draft() {
    let world = SettingsWorld::with("{}");
    let mut plan = world.plan().expect("plans");
    let tree = world.tree();
    plan.steps[0].change.after =
        Some(vec![b' '; usize::try_from(file::MAX_SETTINGS_BYTES).expect("small") + 1]);
    assert!(matches!(plan.apply(), Err(InstallError::TooLarge { .. })));
    assert_eq!((world.text().as_str(), world.tree()), ("{}", tree));
}
