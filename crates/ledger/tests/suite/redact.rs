// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Secrets become marks before anything is stored or spooled.

use serde_json::json;
use tenterhook_ledger::{Ledger, RedactionKey};

use crate::common::{Test, decided, event, options, outcome};

fn secretive(number: u64) -> tenterhook_ledger::Entry {
    let mut event = event(number);
    event.cwd = Some("/home/dev/secret=cwd".into());
    event.tool.as_mut().unwrap().args = json!({
        "command": "curl -H secret=hunter2 https://example.com",
        "env": {"secret=inkey": "secret=hunter2"},
    });
    event.detail.prompt = Some("use secret=hunter2 please".into());
    let mut said = outcome(4);
    said.reasons[0].what = "it sends secret=hunter2 away".into();
    decided(event, &said)
}

#[test]
fn no_secret_is_in_any_file_and_equal_ones_can_be_told() {
    let test = Test::new();
    let ledger = test.open();
    ledger.append(secretive(1)).unwrap();
    let spooled = secretive(2).seal(ledger.sealing()).unwrap().to_spool().unwrap();
    assert!(!spooled.contains("hunter2") && !spooled.contains("inkey"), "{spooled}");
    ledger.close().unwrap();
    for name in std::fs::read_dir(&test.dir).unwrap().map(|file| file.unwrap().path()) {
        let bytes = std::fs::read(&name).unwrap();
        for secret in ["hunter2", "inkey", "secret=cwd"] {
            assert!(
                !bytes.windows(secret.len()).any(|window| window == secret.as_bytes()),
                "{secret} in {name:?}"
            );
        }
    }
    let mark = RedactionKey::open(&test.dir).unwrap().mark("test-secret", "hunter2");
    let stored = test.reader().get(1).unwrap().unwrap();
    let payload = String::from_utf8(stored.payload.clone().unwrap().bytes.unwrap()).unwrap();
    assert_eq!(payload.matches(&mark).count(), 3, "{payload}");
    let leaf = stored.envelope().unwrap().unwrap();
    assert_eq!(leaf.reason.as_deref(), Some(&*format!("it sends secret={mark} away")));
    assert_eq!(leaf.payload.unwrap().redacted, 6);
    test.verify().unwrap();
}

#[test]
fn whoever_wants_secrets_kept_has_to_say_so() {
    let test = Test::new();
    let mut raw = options();
    raw.keep_raw = true;
    let ledger = Ledger::open(&test.dir, raw).unwrap().ledger;
    ledger.append(secretive(1)).unwrap();
    let payload = test.reader().get(1).unwrap().unwrap().payload.unwrap().bytes.unwrap();
    assert!(String::from_utf8(payload).unwrap().contains("hunter2"));
}

#[test]
fn another_ledger_marks_the_same_secret_otherwise() {
    let (one, other) = (Test::filled(), Test::filled());
    let mark = |test: &Test| RedactionKey::open(&test.dir).unwrap().mark("k", "hunter2");
    assert_eq!(mark(&one), mark(&one));
    assert_ne!(mark(&one), mark(&other));
}
