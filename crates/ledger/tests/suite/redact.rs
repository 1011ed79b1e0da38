// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Secrets are replaced by placeholders before anything is stored or spooled.

use serde_json::json;
use tenterhook_event::{EventId, Timestamp};
use tenterhook_ledger::{Durability, Ledger, LedgerEntry, LedgerOptions, RedactionKey};

use crate::common::{NOW, TestLedger, decided, entry, event, find_secrets, options, outcome};

fn entry_with_secrets(number: u64) -> tenterhook_ledger::LedgerEntry {
    let mut event = event(number);
    event.cwd = Some("/home/dev/secret=cwd".into());
    event.tool.as_mut().unwrap().args = json!({
        "command": "curl -H secret=hunter2 https://example.com",
        "env": {"secret=inkey": "secret=hunter2"},
    });
    event.detail.prompt = Some("use secret=hunter2 please".into());
    let mut outcome = outcome(4);
    outcome.reasons[0].value = "it sends secret=hunter2 away".into();
    decided(event, &outcome)
}

#[test]
fn no_secret_is_in_any_file_and_equal_secrets_have_equal_marks() {
    let test = TestLedger::new();
    let ledger = test.open();
    ledger.append(entry_with_secrets(1)).unwrap();
    let spooled = entry_with_secrets(2).seal(ledger.sealing()).unwrap().to_spool().unwrap();
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
fn secrets_are_kept_only_if_configured() {
    let test = TestLedger::new();
    let mut raw = options();
    raw.keep_raw = true;
    let ledger = Ledger::open(&test.dir, raw).unwrap().ledger;
    assert_eq!(ledger.append(entry_with_secrets(1)).unwrap().seq(), 2);
    let payload = test.reader().get(2).unwrap().unwrap().payload.unwrap().bytes.unwrap();
    assert!(String::from_utf8(payload).unwrap().contains("hunter2"));
}

#[test]
fn changed_settings_are_recorded() {
    let test = TestLedger::new();
    let open_with = |change: &dyn Fn(&mut LedgerOptions)| {
        let mut options = options();
        options.who = "dev".into();
        change(&mut options);
        Ledger::open(&test.dir, options).unwrap().ledger.close().unwrap();
        let last = test.reader().size().unwrap() - 1;
        let leaf = test.reader().get(last).unwrap().unwrap();
        (last, String::from_utf8(leaf.bytes.unwrap()).unwrap())
    };
    assert_eq!(open_with(&|_| ()).0, 0, "default settings are not recorded");
    let (seq, raw) = open_with(&|options| options.keep_raw = true);
    let kind = r#""kind":"change""#;
    let detail = r#""what":"ledger settings","who":"dev","detail":{"durability":"durable","keep_raw":true,"max_payload":1048576}"#;
    assert!(seq == 1 && raw.contains(kind) && raw.contains(detail), "{raw}");
    assert_eq!(open_with(&|options| options.keep_raw = true).0, 1, "the same settings are recorded once");
    assert!(open_with(&|_| ()).1.contains(r#""keep_raw":false"#), "turning it off is recorded");
    let (seq, more) = open_with(&|options| {
        options.durability = Durability::Relaxed;
        options.settings = json!({"sinks": ["journal"]});
    });
    assert!(
        seq == 3 && more.contains(r#""durability":"relaxed""#) && more.contains(r#""sinks":["journal"]"#)
    );
    assert_eq!(test.verify().unwrap().size, 4);
}

#[test]
fn another_ledger_has_another_mark_for_the_same_secret() {
    let (one, other) = (TestLedger::filled(), TestLedger::filled());
    let mark = |test: &TestLedger| RedactionKey::open(&test.dir).unwrap().mark("k", "hunter2");
    assert_eq!(mark(&one), mark(&one));
    assert_ne!(mark(&one), mark(&other));
}

#[test]
fn changes_and_reasons_are_searched_for_secrets() {
    let test = TestLedger::new();
    let ledger = test.open();
    ledger.append(entry(1)).unwrap();
    let change = LedgerEntry::change(
        EventId::from_parts(NOW, 7),
        Timestamp::from_unix_ms(NOW),
        "rules add secret=what",
        "secret=who",
        json!({"from": "https://dev:secret=hunter2 example.com", "secret=inkey": [["secret=deep"]]}),
        &find_secrets,
    );
    ledger.append(change).unwrap();
    ledger.erase(1, 1, "dev", "it had secret=inreason in it", &find_secrets).unwrap();
    ledger.prune(1, "dev", "secret=prunereason", &find_secrets).unwrap();
    ledger.close().unwrap();
    let leaves = test.reader().records_from(2, 3).unwrap();
    for (leaf, secrets) in leaves.iter().zip([5, 1, 1]) {
        let text = String::from_utf8(leaf.bytes.clone().unwrap()).unwrap();
        assert_eq!(text.matches("[[redacted:test-secret:").count(), secrets, "{text}");
        for secret in ["hunter2", "inkey", "deep", "=what", "=who", "inreason", "prunereason"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
    test.verify().unwrap();
}
