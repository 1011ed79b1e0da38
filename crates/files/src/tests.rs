// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::os::unix::fs::{chown, symlink};

use super::*;

const CLASSES: [FileClass; 4] =
    [FileClass::State, FileClass::Configuration, FileClass::Untrusted, FileClass::Named];

fn reason(result: Result<Option<Vec<u8>>>) -> Option<RefusalReason> {
    FileRefused::reason_of(&result.unwrap_err())
}

#[test]
fn a_pipe_a_socket_a_directory_and_a_device_are_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
        .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    std::fs::create_dir(at("directory")).unwrap();
    // Opening a pipe for reading waits for a writer, and there is none.
    for class in CLASSES {
        for name in ["pipe", "socket", "directory"] {
            let found = reason(read_bytes(&at(name), class, 10));
            assert_eq!(found, Some(RefusalReason::NotRegular), "{name} {class:?}");
        }
        let device = reason(read_bytes(Path::new("/dev/zero"), class, 10));
        assert_eq!(device, Some(RefusalReason::NotRegular));
    }
    let written = open_state_for_writing(&at("pipe"), OpenOptions::new().append(true));
    assert_eq!(FileRefused::reason_of(&written.unwrap_err()), Some(RefusalReason::NotRegular));
}

#[test]
fn at_most_the_limit_is_read_also_where_the_length_says_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, "12345678").unwrap();
    assert_eq!(read_text(&path, FileClass::State, 8).unwrap().as_deref(), Some("12345678"));
    assert_eq!(reason(read_bytes(&path, FileClass::State, 7)), Some(RefusalReason::TooLarge(7)));
    assert!(read_bytes(&dir.path().join("none"), FileClass::State, 7).unwrap().is_none());
    let sparse = File::create(&path).unwrap();
    sparse.set_len(1 << 40).unwrap();
    assert_eq!(reason(read_bytes(&path, FileClass::State, 4096)), Some(RefusalReason::TooLarge(4096)));
    // This file reports a size of 0 and has gigabytes of content.
    let endless = Path::new("/proc/self/pagemap");
    if endless.exists() {
        assert_eq!(
            reason(read_bytes(endless, FileClass::Untrusted, 4095)),
            Some(RefusalReason::TooLarge(4095))
        );
    }
    std::fs::write(&path, b"\xff").unwrap();
    assert!(read_text(&path, FileClass::State, 7).unwrap_err().to_string().contains("is not valid UTF-8"));
}

#[test]
fn only_configuration_may_be_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    std::fs::write(&file, "x").unwrap();
    symlink(&file, &link).unwrap();
    assert!(read_bytes(&link, FileClass::Configuration, 10).unwrap().is_some());
    for class in [FileClass::State, FileClass::Untrusted, FileClass::OwnedBy(0)] {
        assert_eq!(reason(read_bytes(&link, class, 10)), Some(RefusalReason::SymbolicLink));
    }
    std::fs::remove_file(&file).unwrap();
    assert!(read_bytes(&link, FileClass::Configuration, 10).unwrap().is_none(), "nothing is there yet");
    symlink(&link, &file).unwrap();
    assert!(read_bytes(&link, FileClass::Configuration, 10).is_err(), "a loop");
}

#[test]
fn a_link_leads_only_to_files_of_its_maker_or_of_this_account() {
    // Each row has the owner of the target, the maker of the link, and this account.
    for (owner, maker, own, accepted) in [
        (1000, 1000, 1000, true),
        (0, 1000, 1000, true),
        (1001, 1000, 1000, false),
        (1000, 0, 1000, true),
        (0, 0, 0, true),
        (0, 1000, 0, false),
        (1000, 1000, 0, true),
        (1000, 0, 0, false),
    ] {
        assert_eq!(is_own_target(owner, maker, own), accepted, "{owner} {maker} {own}");
    }
}

#[test]
fn files_of_another_account_are_refused_where_the_owner_counts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, "x").unwrap();
    let own = rustix::process::geteuid().as_raw();
    assert!(read_bytes(&path, FileClass::OwnedBy(own), 10).unwrap().is_some());
    let foreign = Some(RefusalReason::ForeignOwner(own));
    assert_eq!(reason(read_bytes(&path, FileClass::OwnedBy(own + 1), 10)), foreign);
    // Only root can change the owner of a file.
    if chown(&path, Some(65_534), None).is_err() {
        return;
    }
    for class in [FileClass::State, FileClass::Configuration] {
        assert_eq!(reason(read_bytes(&path, class, 10)), Some(RefusalReason::ForeignOwner(65_534)));
    }
    assert!(read_bytes(&path, FileClass::Untrusted, 10).unwrap().is_some());
    chown(dir.path(), Some(65_534), None).unwrap();
    for class in [FileClass::State, FileClass::Configuration] {
        assert!(read_bytes(&path, class, 10).unwrap().is_some(), "the directory is that account's too");
    }
}
