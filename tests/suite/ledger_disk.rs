// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A state directory on a full or read-only disk. Calls that cannot be recorded are denied, and work continues once
//! there is free space again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::context::TestContext;

/// Runs a shell script with a small disk mounted at the state directory, and returns its output. `None`, with a note,
/// where the test cannot mount.
fn on_a_small_disk(test: &TestContext, script: &str) -> Option<String> {
    let unshare = [["-Urm"].as_slice(), ["-m"].as_slice()].into_iter().find(|args| {
        let mut tried = Command::new("unshare");
        tried.args(*args).args(["sh", "-c", "mount -t tmpfs none /mnt && mount -o remount,bind,ro /mnt"]);
        tried.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    });
    let Some(unshare) = unshare else {
        tenterhook_test_support::skip_test("needs `unshare -Urm` or `unshare -m`");
        return None;
    };
    let payload = test.write("payload.json", &test.bash("ls"));
    let script = format!(
        "set -e\nmount -t tmpfs -o size=4m,mode=700 none \"$TENTERHOOK_HOME\"\n\
         hook() {{ \"$0\" hook claude-code pre-tool-use < {} ; }}\n\
         look() {{ \"$0\" ledger stats > /dev/null 2>&1 || true; }}\n\
         fill() {{ cat /dev/zero > \"$TENTERHOOK_HOME/filler\" 2>/dev/null || true; }}\n\
         leave() {{ truncate -s -\"$1\" \"$TENTERHOOK_HOME/filler\"; }}\n{script}",
        payload.display()
    );
    let mut args = unshare.to_vec();
    args.extend(["sh", "-c", &script, env!("CARGO_BIN_EXE_tenterhook")]);
    let ran = test.run_command(test.command(Path::new("/usr/bin/unshare"), &args), b"");
    assert_eq!(ran.exit, 0, "{}\n{}", ran.stdout, ran.stderr);
    Some(ran.stdout)
}

/// Decision printed by each call of the hook.
fn decisions(printed: &str) -> Vec<Option<String>> {
    let answers = printed.lines().filter(|line| line.starts_with("== ") || line.starts_with('{'));
    let mut found = Vec::new();
    for line in answers {
        if line.starts_with("== ") {
            found.push(None);
        } else if let Some(last) = found.last_mut() {
            let answer: Value = serde_json::from_str(line).unwrap();
            *last = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().map(str::to_owned);
        }
    }
    found
}

/// Path for a copy of the state directory, which the test checks after the disk is unmounted.
fn copy_of_home(test: &TestContext) -> PathBuf {
    test.path("copy")
}

#[test]
fn on_a_full_disk_what_cannot_be_recorded_is_denied_until_there_is_room() {
    let test = TestContext::new();
    let script = format!(
        "echo == 1; hook; look\nfill; echo == 2; hook; look\necho == 3; hook\n\
         leave 40000; echo == 4; hook; look\nrm \"$TENTERHOOK_HOME/filler\"; echo == 5; hook\n\
         \"$0\" ledger verify --json > {0}.json; cp -r \"$TENTERHOOK_HOME\" {0}",
        copy_of_home(&test).display()
    );
    let Some(printed) = on_a_small_disk(&test, &script) else { return };
    let said = decisions(&printed);
    assert_eq!(said.len(), 5, "{printed}");
    for refused in [&said[1], &said[2]] {
        let why = refused.as_ref().unwrap_or_else(|| panic!("it was not denied: {printed}"));
        assert!(why.contains("the spool cannot be written: No space left on device"), "{why}");
    }
    assert_eq!((&said[0], &said[4]), (&None, &None), "calls pass once there is room: {printed}");
    let verified: Value =
        serde_json::from_str(&std::fs::read_to_string(copy_of_home(&test).with_extension("json")).unwrap())
            .unwrap();
    assert_eq!(verified["verified"], true);
    // Every allowed call is recorded, in the ledger and not in the spool.
    let passed = said.iter().filter(|said| said.is_none()).count();
    let reader = tenterhook_ledger::Reader::open(&copy_of_home(&test).join("ledger")).unwrap();
    let leaves = reader.stats(&tenterhook_ledger::Filter::default()).unwrap();
    let count = leaves.kinds.iter().find(|(kind, _)| kind == "decision").map_or(0, |(_, count)| *count);
    assert!(
        count >= u64::try_from(passed).unwrap(),
        "{count} decisions are recorded, {passed} calls were allowed"
    );
    assert_eq!(std::fs::read_dir(copy_of_home(&test).join("spool")).map_or(0, Iterator::count), 0);
}

#[test]
fn a_full_spool_disk_is_reported_too() {
    let test = TestContext::new();
    let script = format!(
        "echo == 1; hook; look\nexec 9< \"$TENTERHOOK_HOME/ledger/lock\"; flock 9\n\
         fill; echo == 2; hook; look\nrm \"$TENTERHOOK_HOME/filler\"; echo == 3; hook; look\n\
         flock -u 9; echo == 4; hook; look\n\"$0\" ledger verify --json > /dev/null; cp -r \"$TENTERHOOK_HOME\" {}",
        copy_of_home(&test).display()
    );
    let Some(printed) = on_a_small_disk(&test, &script) else { return };
    let said = decisions(&printed);
    let why = said[1].as_ref().unwrap_or_else(|| panic!("it was not denied: {printed}"));
    assert!(why.contains("the spool cannot be written: No space left"), "{why}");
    assert_eq!([&said[0], &said[2], &said[3]], [&None; 3], "{printed}");
    let reader = tenterhook_ledger::Reader::open(&copy_of_home(&test).join("ledger")).unwrap();
    let leaves: Vec<Value> = reader
        .records_from(0, 100)
        .unwrap()
        .iter()
        .map(|leaf| serde_json::from_slice(leaf.bytes.as_ref().unwrap()).unwrap())
        .collect();
    let origins: Vec<_> =
        leaves.iter().filter(|leaf| leaf["kind"] == "decision").map(|leaf| &leaf["origin"]).collect();
    assert_eq!(origins, [&json!("spool"); 3], "each allowed call is imported once");
}

#[test]
fn on_a_read_only_disk_everything_is_denied_and_the_ledger_can_be_read() {
    let test = TestContext::new();
    let script = "echo == 1; hook; look\nmount -o remount,bind,ro \"$TENTERHOOK_HOME\"; echo == 2; hook\n\
        \"$0\" ledger verify > /dev/null; \"$0\" ledger query > /dev/null; \"$0\" ledger show 1 > /dev/null\n\
        mount -o remount,bind,rw \"$TENTERHOOK_HOME\"; echo == 3; hook\n\"$0\" ledger verify > /dev/null";
    let Some(printed) = on_a_small_disk(&test, script) else { return };
    let said = decisions(&printed);
    let why = said[1].as_ref().unwrap_or_else(|| panic!("it was not denied: {printed}"));
    assert!(why.contains("Read-only file system"), "{why}");
    assert_eq!([&said[0], &said[2]], [&None; 2], "{printed}");
}

#[test]
fn a_daemon_on_a_full_disk_denies_what_it_cannot_record_and_goes_on_when_there_is_room() {
    let test = TestContext::new();
    let script = format!(
        "\"$0\" serve --listen none > /dev/null 2> {0}.log & daemon=$!\n\
         for i in $(seq 200); do \"$0\" status > /dev/null 2>&1 && break; sleep 0.05; done\n\
         echo == 1; hook\nfill; echo == 2; hook; echo == 3; hook\n\
         rm \"$TENTERHOOK_HOME/filler\"; echo == 4; hook; echo == 5; hook\n\
         \"$0\" status --json > {0}.status; kill -TERM $daemon; wait $daemon\n\
         \"$0\" ledger verify --json > {0}.json; cp -r \"$TENTERHOOK_HOME\" {0}",
        copy_of_home(&test).display()
    );
    let Some(printed) = on_a_small_disk(&test, &script) else { return };
    let said = decisions(&printed);
    assert_eq!(said.len(), 5, "{printed}");
    for refused in [&said[1], &said[2]] {
        let why = refused.as_ref().unwrap_or_else(|| panic!("it was not denied: {printed}"));
        assert!(why.contains("full") || why.contains("No space left"), "{why}");
    }
    assert_eq!([&said[0], &said[3], &said[4]], [&None; 3], "calls pass once there is room: {printed}");
    let read = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(copy_of_home(&test).with_extension(name)).unwrap())
            .unwrap()
    };
    assert_eq!(read("json")["verified"], true);
    assert_eq!(read("status")["running"], true, "the same daemon answers still");
    let reader = tenterhook_ledger::Reader::open(&copy_of_home(&test).join("ledger")).unwrap();
    let leaves = reader.stats(&tenterhook_ledger::Filter::default()).unwrap();
    let count = leaves.kinds.iter().find(|(kind, _)| kind == "decision").map_or(0, |(_, count)| *count);
    assert!(count >= 3, "{count} decisions are recorded, 3 calls were allowed");
}
