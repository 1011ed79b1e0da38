// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

const HOOK: &str =
    "title: A\nabout: B\nlanguage: shell\nhooks:\n  - {id: a, on: stop, exec: [sh, \"{kit}/a.sh\"]}\n";

fn kit() -> Files {
    [(MANIFEST.to_owned(), HOOK.to_owned()), ("a.sh".to_owned(), "exit 0\n".to_owned())].into()
}

fn home_with_kit() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::whole(dir.path().to_owned());
    write(&home, "mine", &kit()).unwrap();
    let fresh = Kit { trusted: true, ..Kit::fresh("mine", "/somewhere", None, &kit()) };
    KitList { kits: vec![fresh] }.write(&home).unwrap();
    (dir, home)
}

#[test]
fn a_list_is_read_as_it_was_written() {
    let (_dir, home) = home_with_kit();
    let mut list = KitList::read(&home).unwrap();
    list.put(Kit {
        commit: Some("abc: \"#".to_owned()),
        ..Kit::fresh("two", "https://x/y.git", None, &kit())
    });
    list.write(&home).unwrap();
    assert_eq!(KitList::read(&home), Ok(list));
    KitList::default().write(&home).unwrap();
    assert_eq!(KitList::read(&home), Ok(KitList::default()));
}

#[test]
fn a_folder_is_taken_only_as_plain_files() {
    let dir = tempfile::tempdir().unwrap();
    assert!(gather(dir.path()).unwrap_err().message.contains("there is no `hook.yaml`"));
    std::fs::write(dir.path().join(MANIFEST), HOOK).unwrap();
    assert_eq!(gather(dir.path()).unwrap().len(), 1);
    std::os::unix::fs::symlink("/etc/passwd", dir.path().join("x")).unwrap();
    assert!(gather(dir.path()).unwrap_err().message.contains("is no plain file"));
}

#[test]
fn names_are_names_of_folders() {
    for bad in ["", "..", "a/b", "A", "-a", ".a", "ä"] {
        assert!(check_name(bad).is_err(), "{bad}");
    }
    check_name("env-guard_2").unwrap();
}
