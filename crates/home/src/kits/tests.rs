// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::{Configuration, Env, Place};

const HOOK: &str =
    "title: A\nabout: B\nlanguage: shell\nhooks:\n  - {id: a, on: stop, exec: [sh, \"{kit}/a.sh\"]}\n";

fn kit() -> Files {
    [(MANIFEST.to_owned(), HOOK.to_owned()), ("a.sh".to_owned(), "exit 0\n".to_owned())].into()
}

fn home_with(trusted: bool) -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::whole(dir.path().to_owned());
    write(&home, "mine", &kit()).unwrap();
    let fresh = Kit { trusted, ..Kit::fresh("mine", "/somewhere", None, &kit()) };
    KitList { kits: vec![fresh] }.write(&home).unwrap();
    (dir, home)
}

fn hooks(home: &Home) -> (usize, usize, String) {
    let read = Configuration::read_trusted(home, &Env::default(), &Place::default());
    (read.hooks.len(), read.problems.len(), read.generation)
}

#[test]
fn a_list_is_read_as_it_was_written() {
    let (_dir, home) = home_with(true);
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
fn a_kit_runs_when_it_is_trusted_and_as_long_as_it_is_the_same() {
    let (_dir, home) = home_with(false);
    let (none, problems, untrusted) = hooks(&home);
    assert_eq!((none, problems), (0, 0), "nobody trusts it");
    let (_dir, home) = home_with(true);
    let (one, problems, trusted) = hooks(&home);
    assert_eq!((one, problems), (1, 0));
    assert_ne!(untrusted, trusted, "records tell the two apart");
    let read = Configuration::read_trusted(&home, &Env::default(), &Place::default());
    let Runner::Command(command) = &read.hooks[0].runner else { panic!() };
    let here = home.kits().join("mine");
    assert_eq!(command.line, CommandLine::Exec(vec!["sh".into(), here.join("a.sh").display().to_string()]));
    for (file, text) in [("a.sh", Some("exit 2\n")), ("b.sh", Some("")), ("a.sh", None), (MANIFEST, None)] {
        let (_dir, home) = home_with(true);
        let path = home.kits().join("mine").join(file);
        match text {
            Some(text) => std::fs::write(path, text).unwrap(),
            None => std::fs::remove_file(path).unwrap(),
        }
        let (none, problems, changed) = hooks(&home);
        assert_eq!((none, problems), (0, 1), "{file}");
        assert_ne!(changed, trusted, "{file}");
    }
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
