// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

const HOOK: &str =
    "title: A\nabout: B\nlanguage: shell\nhooks:\n  - {id: a, on: stop, exec: [sh, \"{kit}/a.sh\"]}\n";

fn package() -> PackageFiles {
    [(MANIFEST.to_owned(), HOOK.to_owned()), ("a.sh".to_owned(), "exit 0\n".to_owned())].into()
}

fn home_with_package() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::in_dir(dir.path().to_owned());
    write(&home, "mine", &package()).unwrap();
    let fresh = PackageEntry { trusted: true, ..PackageEntry::new("mine", "/somewhere", None, &package()) };
    PackageList { packages: vec![fresh] }.write(&home).unwrap();
    (dir, home)
}

#[test]
fn a_list_is_read_as_it_was_written() {
    let (_dir, home) = home_with_package();
    let mut list = PackageList::read(&home).unwrap();
    list.put(PackageEntry {
        commit: Some("abc: \"#".to_owned()),
        ..PackageEntry::new("two", "https://x/y.git", None, &package())
    });
    list.write(&home).unwrap();
    assert_eq!(PackageList::read(&home), Ok(list));
    PackageList::default().write(&home).unwrap();
    assert_eq!(PackageList::read(&home), Ok(PackageList::default()));
}

#[test]
fn a_folder_is_taken_only_as_plain_files() {
    let dir = tempfile::tempdir().unwrap();
    assert!(read_files(dir.path()).unwrap_err().message.contains("there is no `hook.yaml`"));
    std::fs::write(dir.path().join(MANIFEST), HOOK).unwrap();
    assert_eq!(read_files(dir.path()).unwrap().len(), 1);
    std::os::unix::fs::symlink("/etc/passwd", dir.path().join("x")).unwrap();
    assert!(read_files(dir.path()).unwrap_err().message.contains("is not a regular file"));
}

#[test]
fn names_are_names_of_folders() {
    for bad in ["", "..", "a/b", "A", "-a", ".a", "ä"] {
        assert!(check_name(bad).is_err(), "{bad}");
    }
    check_name("env-guard_2").unwrap();
}
