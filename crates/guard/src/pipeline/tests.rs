// SPDX-License-Identifier: Apache-2.0 OR MIT

use tenterhook_engine::{CommandLine, HookBackend};
use tenterhook_home::hook_packages::{MANIFEST, PackageEntry, PackageFiles, PackageList, write};

use super::*;

const HOOK: &str =
    "title: A\nabout: B\nlanguage: shell\nhooks:\n  - {id: a, on: stop, exec: [sh, \"{kit}/a.sh\"]}\n";

fn package_files() -> PackageFiles {
    [(MANIFEST.to_owned(), HOOK.to_owned()), ("a.sh".to_owned(), "exit 0\n".to_owned())].into()
}

fn home_with_package(trusted: bool) -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::in_dir(dir.path().to_owned());
    write(&home, "mine", &package_files()).unwrap();
    let fresh = PackageEntry { trusted, ..PackageEntry::new("mine", "/somewhere", None, &package_files()) };
    PackageList { packages: vec![fresh] }.write(&home).unwrap();
    (dir, home)
}

fn hooks(home: &Home) -> (usize, usize, String) {
    let read = Configuration::read_trusted(home, &Env::default(), &WorkDirs::default());
    (read.hooks.len(), read.problems.len(), read.generation)
}

#[test]
fn a_kit_runs_when_it_is_trusted_and_as_long_as_it_is_the_same() {
    let (_dir, home) = home_with_package(false);
    let (none, problems, untrusted) = hooks(&home);
    assert_eq!((none, problems), (0, 0), "nobody trusts it");
    let (_dir, home) = home_with_package(true);
    let (one, problems, trusted) = hooks(&home);
    assert_eq!((one, problems), (1, 0));
    assert_ne!(untrusted, trusted, "records tell the two apart");
    let read = Configuration::read_trusted(&home, &Env::default(), &WorkDirs::default());
    let HookBackend::Command(command) = &read.hooks[0].runner else { panic!() };
    let here = home.hook_packages().join("mine");
    assert_eq!(command.line, CommandLine::Exec(vec!["sh".into(), here.join("a.sh").display().to_string()]));
    for (file, text) in [("a.sh", Some("exit 2\n")), ("b.sh", Some("")), ("a.sh", None), (MANIFEST, None)] {
        let (_dir, home) = home_with_package(true);
        let path = home.hook_packages().join("mine").join(file);
        match text {
            Some(text) => std::fs::write(path, text).unwrap(),
            None => std::fs::remove_file(path).unwrap(),
        }
        let (none, problems, changed) = hooks(&home);
        assert_eq!((none, problems), (0, 1), "{file}");
        assert_ne!(changed, trusted, "{file}");
    }
}
