// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The daemon's files and directories must belong to its own account (same-user mode). The attacker is another
//! account that can write to their parent directories, or that created them earlier.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use crate::context::TestContext;
use crate::daemon::RunningDaemon;

fn serve(test: &TestContext) -> crate::context::CommandOutput {
    test.run(&["serve", "--listen", "none"])
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_state_or_run_directory_that_others_can_write_is_refused() {
    let test = TestContext::new();
    let home = test.home();
    std::fs::create_dir(home.join("run")).unwrap();
    for path in [home.clone(), home.join("run")] {
        set_mode(&path, 0o777);
        let ran = serve(&test);
        assert_eq!(ran.exit, 1);
        assert!(
            ran.stderr.contains("is not safe to run a daemon in: other accounts can write there"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("chmod go-w"), "{}", ran.stderr);
        set_mode(&path, 0o700);
    }
    std::fs::remove_dir(home.join("run")).unwrap();
    symlink(test.path("work"), home.join("run")).unwrap();
    let ran = serve(&test);
    assert!(ran.exit == 1 && ran.stderr.contains("it is not a directory"), "{}", ran.stderr);
    assert!(
        std::fs::read_dir(test.path("work")).unwrap().next().is_none(),
        "nothing was written through the link"
    );
}

#[test]
fn a_directory_of_another_account_is_refused() {
    let test = TestContext::new();
    let owned = rustix::process::getuid().is_root()
        && std::os::unix::fs::chown(test.home(), Some(12_345), None).is_ok();
    if !owned {
        // Only root can change the owner of a directory. A separate test covers the ownership check.
        return;
    }
    let ran = serve(&test);
    assert!(ran.exit == 1 && ran.stderr.contains("it belongs to another account"), "{}", ran.stderr);
}

#[test]
fn a_token_that_others_could_know_is_replaced() {
    let test = TestContext::new();
    let known = "a".repeat(64);
    let path = test.home().join("run/token");
    std::fs::create_dir(test.home().join("run")).unwrap();
    set_mode(&test.home().join("run"), 0o700);
    // First a file that other accounts can read, then a link to a file that the attacker chose.
    std::fs::write(&path, &known).unwrap();
    set_mode(&path, 0o644);
    let served = RunningDaemon::in_home(test, &[]);
    assert_ne!(served.token, known);
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let kept = served.token.clone();
    let served = served.restart();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), kept, "a private token is kept");
    let chosen = served.test.write("work/chosen", &known);
    set_mode(&chosen, 0o600);
    std::fs::remove_file(&path).unwrap();
    symlink(&chosen, &path).unwrap();
    let served = served.restart();
    assert!(std::fs::symlink_metadata(&path).unwrap().is_file(), "the link is gone");
    assert_eq!(std::fs::read_to_string(&chosen).unwrap(), known, "the target of the link is unchanged");
    assert_eq!(served.get("/v1/policy").status, 401, "the old token is refused");
}

#[test]
fn a_dead_daemons_socket_is_taken_over_and_a_living_ones_is_not() {
    let mut served = RunningDaemon::new();
    let second = serve(&served.test);
    assert_eq!(second.exit, 1);
    assert!(second.stderr.contains("a daemon already listens on"), "{}", second.stderr);
    assert!(second.stderr.contains("tenterhook stop"), "{}", second.stderr);
    served.signal(rustix::process::Signal::KILL);
    assert!(!served.wait());
    assert!(served.socket().exists(), "it was killed before its clean-up");
    let served = RunningDaemon::in_home(std::mem::replace(&mut served.test, TestContext::new()), &[]);
    assert!(served.hook(&served.test.bash("ls")).starts_with("TH1 reply"));
    assert_eq!(std::fs::metadata(served.socket()).unwrap().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(served.test.home().join("run")).unwrap().mode() & 0o777, 0o700);
}
