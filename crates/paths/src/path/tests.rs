// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

fn places(text: &str, pattern: bool) -> Vec<Place> {
    let ground = Ground::new(Some("/home/user"), Some("/home/user/project"));
    let found = Found { text, shape: text, dynamic: false, pattern };
    ground.fact(&found, Some("/home/user/project")).places
}

#[test]
fn a_path_has_its_place_however_it_is_spelled() {
    use Place::{Home, InsideProject, OutsideProject, ProjectRoot, Root, Temp};
    let table: &[(&str, &[Place])] = &[
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
        assert_eq!(places(text, false), *expected, "{text}");
    }
}

#[test]
fn a_home_or_project_among_temporary_files_is_not_temporary() {
    let ground = Ground::new(Some("/tmp/ci/home"), Some("/tmp/ci/work/project"));
    for path in ["/tmp/ci/home/x", "/tmp/ci/home", "/tmp/ci", "/tmp/ci/work"] {
        assert!(ground.places(path).contains(&Place::OutsideProject), "{path}");
    }
    assert_eq!(ground.places("/tmp/ci/other"), [Place::Temp]);
}

#[test]
fn a_home_or_what_holds_it_is_no_project() {
    for project in ["/", "/home", "/home/user"] {
        let ground = Ground::new(Some("/home/user"), Some(project));
        for path in ["/home/user/Documents", "/etc", "/home"] {
            assert!(ground.places(path).contains(&Place::OutsideProject), "{path} in {project}");
        }
    }
}

#[test]
fn a_pattern_that_takes_everything_has_the_place_of_its_directory() {
    use Place::{Home, InsideProject, OutsideProject, ProjectRoot, Root, Temp};
    let table: &[(&str, &[Place])] = &[
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
        assert_eq!(places(text, true), *expected, "{text}");
    }
    assert_eq!(places("*", false), [InsideProject], "a file that is called *");
}

#[test]
fn without_a_working_directory_a_relative_path_is_unknown() {
    let ground = Ground::new(None, None);
    let found = Found { text: "x", shape: "x", dynamic: false, pattern: false };
    assert_eq!(ground.fact(&found, None).places, [Place::Unknown]);
}
