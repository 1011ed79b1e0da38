// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that Tenterhook writes as a whole.

use super::super::{InstallWarning, MARK, OwnedFile, has_mark};
use super::*;

fn script(world: &SettingsWorld, text: &str) -> ManagedFile {
    let owned = OwnedFile {
        bytes: format!("#!/bin/sh\n# {MARK}.\n{text}").into_bytes(),
        mode: 0o755,
        is_ours: has_mark,
        holds: vec![text.to_owned()],
        warnings: vec![InstallWarning::note("restart the editor")],
    };
    ManagedFile::new(world.settings.with_file_name("hooks").join("PreToolUse"), FileContent::Owned(owned))
}

fn install(world: &SettingsWorld, piece: &ManagedFile) -> Result<InstallPlan, InstallError> {
    let order = install_request(&piece.path, &world.home);
    super::super::plan_install("cline", &order, std::slice::from_ref(piece), &world.receipts)
}

fn uninstall(world: &SettingsWorld, piece: &ManagedFile) -> InstallPlan {
    super::super::plan_uninstall("cline", std::slice::from_ref(piece), &world.receipts).expect("plans")
}

#[test]
fn a_file_of_ours_comes_is_brought_up_to_date_and_goes() {
    let world = SettingsWorld::empty();
    let before = world.tree();
    let old = script(&world, "old\n");
    let plan = install(&world, &old).expect("plans");
    assert_eq!(plan.notes, ["restart the editor"]);
    plan.apply().expect("installs");
    assert_eq!(fs::metadata(&old.path).expect("exists").mode() & 0o777, 0o755);
    assert!(install(&world, &old).expect("plans").is_noop(), "twice is once");

    let new = script(&world, "new\n");
    install(&world, &new).expect("plans").apply().expect("installs");
    assert!(fs::read_to_string(&new.path).expect("reads").ends_with("new\n"));
    fs::write(&new.path, format!("# {MARK}, and edited\n")).expect("writes");
    let plan = uninstall(&world, &new);
    assert!(plan.restores());
    plan.apply().expect("uninstalls");
    assert_eq!(world.tree().into_iter().filter(|path| *path != world.home).collect::<Vec<_>>(), before);
}

#[test]
fn a_foreign_file_is_neither_replaced_nor_removed() {
    let world = SettingsWorld::empty();
    let piece = script(&world, "x\n");
    fs::create_dir_all(piece.path.parent().expect("a parent")).expect("directories");
    fs::write(&piece.path, "#!/bin/sh\necho mine\n").expect("writes");
    let error = install(&world, &piece).expect_err("not ours");
    assert!(matches!(error, InstallError::NotOurs { .. }) && error.hint().is_some(), "{error}");
    let plan = uninstall(&world, &piece);
    assert!(plan.is_noop() && plan.notes[0].contains("was not written by Tenterhook"), "{:?}", plan.notes);
}
