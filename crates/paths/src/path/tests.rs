// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

fn locations(text: &str, pattern: bool) -> Vec<PathLocation> {
    let roots = PathRoots::new(Some("/home/user"), Some("/home/user/project"));
    let found = WrittenPath { text, shape: text, dynamic: false, pattern };
    roots.classify(&found, Some("/home/user/project")).places
}

#[test]
fn a_path_has_its_place_however_it_is_spelled() {
    use PathLocation::{Home, InsideProject, OutsideProject, ProjectRoot, Root, Temp};
    let table: &[(&str, &[PathLocation])] = &[
        (".", &[ProjectRoot]),
        ("./", &[ProjectRoot]),
        ("build/../../project", &[ProjectRoot]),
        ("build", &[InsideProject]),
        ("/home/user/project//build/.", &[InsideProject]),
        ("..", &[OutsideProject, Home]),
        ("/home/user/projects", &[OutsideProject]),
        ("/home/other", &[OutsideProject, Home]),
        ("/../..", &[OutsideProject, Root]),
        ("/proc/self/root/", &[OutsideProject, Root]),
        ("/tmp", &[OutsideProject]),
        ("/tmp/x", &[Temp]),
        ("/private/tmp/x", &[Temp]),
        ("/tmp/../etc", &[OutsideProject]),
    ];
    for (text, expected) in table {
        assert_eq!(locations(text, false), *expected, "{text}");
    }
}

#[test]
fn paths_of_windows_have_their_place() {
    use PathLocation::{Home, InsideProject, OutsideProject, ProjectRoot, Root, Temp};
    let project = "C:\\Users\\me\\proj";
    let roots = PathRoots::new(Some("/home/user"), Some(project));
    let table: &[(&str, &[PathLocation])] = &[
        (".", &[ProjectRoot]),
        ("src\\a.ts", &[InsideProject]),
        ("..\\other", &[OutsideProject]),
        ("c:\\users\\me\\proj\\dist", &[InsideProject]),
        ("/c/Users/me/proj", &[ProjectRoot]),
        ("C:/Users/me", &[OutsideProject, Home]),
        ("/mnt/c/Users/me", &[OutsideProject, Home]),
        ("C:\\", &[OutsideProject, Root]),
        ("\\Windows", &[OutsideProject]),
        ("C:\\Users\\me\\AppData\\Local\\Temp\\x", &[Temp]),
        ("C:\\Windows\\Temp\\x", &[Temp]),
        ("\\\\server\\share\\x", &[OutsideProject]),
    ];
    for (text, expected) in table {
        let found = WrittenPath { text, shape: text, dynamic: false, pattern: false };
        assert_eq!(roots.classify(&found, resolve(None, project).as_deref()).places, *expected, "{text}");
    }
    let key = WrittenPath { text: "", shape: "C:\\Users\\me\\.ssh\\id_rsa", dynamic: false, pattern: false };
    assert_eq!(roots.classify(&key, None).in_home.as_deref(), Some("~/.ssh/id_rsa"));
    // A backslash is a plain character elsewhere.
    assert_eq!(resolve(Some("/home/user"), "a\\b").as_deref(), Some("/home/user/a\\b"));
    assert_eq!(resolve(Some("/home/user"), "a:b").as_deref(), Some("/home/user/a:b"));
}

#[test]
fn a_home_or_project_among_temporary_files_is_not_temporary() {
    let roots = PathRoots::new(Some("/tmp/ci/home"), Some("/tmp/ci/work/project"));
    for path in ["/tmp/ci/home/x", "/tmp/ci/home", "/tmp/ci", "/tmp/ci/work"] {
        assert!(roots.locations(path).contains(&PathLocation::OutsideProject), "{path}");
    }
    assert_eq!(roots.locations("/tmp/ci/other"), [PathLocation::Temp]);
}

#[test]
fn a_home_or_its_parent_is_not_a_project() {
    for project in ["/", "/home", "/home/user"] {
        let roots = PathRoots::new(Some("/home/user"), Some(project));
        for path in ["/home/user/Documents", "/etc", "/home"] {
            assert!(roots.locations(path).contains(&PathLocation::OutsideProject), "{path} in {project}");
        }
    }
}

#[test]
fn a_pattern_that_takes_everything_has_the_place_of_its_directory() {
    use PathLocation::{Home, InsideProject, OutsideProject, ProjectRoot, Root, Temp};
    let table: &[(&str, &[PathLocation])] = &[
        ("*", &[ProjectRoot]),
        ("./.[!.]*", &[ProjectRoot]),
        ("*.pyc", &[InsideProject]),
        ("*/node_modules", &[InsideProject]),
        ("/*", &[OutsideProject, Root]),
        ("/home/user/*", &[OutsideProject, Home]),
        ("/tmp/*", &[OutsideProject]),
        ("/tmp/x*", &[Temp]),
    ];
    for (text, expected) in table {
        assert_eq!(locations(text, true), *expected, "{text}");
    }
    assert_eq!(locations("*", false), [InsideProject], "a file that is called *");
}

#[test]
fn without_a_working_directory_a_relative_path_is_unknown() {
    let roots = PathRoots::new(None, None);
    let found = WrittenPath { text: "x", shape: "x", dynamic: false, pattern: false };
    assert_eq!(roots.classify(&found, None).places, [PathLocation::Unknown]);
}
