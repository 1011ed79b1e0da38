// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that are ours from the first byte to the last.

use super::super::{MARK, Owned, Warning, marked};
use super::*;

fn script(world: &World, text: &str) -> Piece {
    let owned = Owned {
        bytes: format!("#!/bin/sh\n# {MARK}.\n{text}").into_bytes(),
        mode: 0o755,
        is_ours: marked,
        holds: vec![text.to_owned()],
        warnings: vec![Warning::note("restart the editor")],
    };
    Piece::new(world.settings.with_file_name("hooks").join("PreToolUse"), Content::Owned(owned))
}

fn install(world: &World, piece: &Piece) -> Result<Plan, InstallError> {
    let order = order(&piece.path, &world.home);
    super::super::plan_install("cline", &order, std::slice::from_ref(piece), &world.receipts)
}

fn uninstall(world: &World, piece: &Piece) -> Plan {
    super::super::plan_uninstall("cline", std::slice::from_ref(piece), &world.receipts).expect("plans")
}

#[test]
fn a_file_of_ours_comes_is_brought_up_to_date_and_goes() {
    let world = World::empty();
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
fn a_file_of_somebody_else_is_neither_replaced_nor_removed() {
    let world = World::empty();
    let piece = script(&world, "x\n");
    fs::create_dir_all(piece.path.parent().expect("a parent")).expect("directories");
    fs::write(&piece.path, "#!/bin/sh\necho mine\n").expect("writes");
    let error = install(&world, &piece).expect_err("not ours");
    assert!(matches!(error, InstallError::NotOurs { .. }) && error.hint().is_some(), "{error}");
    let plan = uninstall(&world, &piece);
    assert!(plan.is_noop() && plan.notes[0].contains("not one that we wrote"), "{:?}", plan.notes);
}
