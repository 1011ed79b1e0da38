// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The reply to every outcome, for every event of every harness: standard output, standard error, exit code and
//! unsupported parts. Outcomes with the same reply are grouped.

use std::fmt::Write as _;

use tenterhook_harness::{HARNESSES, Harness, HookReply};

use crate::common::{concerns, harness, outcomes, sample};

fn shown(reply: &HookReply) -> String {
    let mut text = String::new();
    for (name, said) in [("out", &reply.stdout), ("err", &reply.stderr)] {
        if !said.is_empty() {
            let _ = writeln!(text, "    {name}: {}", said.trim_end_matches('\n').replace('\n', "⏎"));
        }
    }
    if reply.exit != 0 {
        let _ = writeln!(text, "    exit {}", reply.exit);
    }
    for lost in &reply.lost {
        let _ = writeln!(text, "    lost: {lost}");
    }
    if text.is_empty() { "    (nothing)\n".to_owned() } else { text }
}

fn page(harness: &Harness) -> String {
    let mut page = String::new();
    for row in harness.events {
        let call = sample(harness, row);
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, outcome) in outcomes() {
            if !concerns(name, row.kind) {
                continue;
            }
            let reply = shown(&harness.encode(&call, &outcome));
            match groups.iter_mut().find(|(said, _)| *said == reply) {
                Some((_, names)) => names.push(name),
                None => groups.push((reply, vec![name])),
            }
        }
        let refused = shown(&harness.refuse(row.native, "the payload is empty"));
        let neutral = shown(&harness.neutral(row.native));
        let _ = writeln!(page, "{}", row.native);
        for (reply, names) in groups {
            let _ = write!(page, "  {}\n{reply}", names.join(" | "));
        }
        let _ = write!(page, "  (unreadable)\n{refused}  (not evaluated)\n{neutral}\n");
    }
    page
}

#[test]
fn replies_to_each_harness() {
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        for harness in HARNESSES.iter().filter(|harness| harness.id != "codex-desktop") {
            insta::assert_snapshot!(harness.id, page(harness));
        }
    });
    assert_eq!(page(harness("codex-desktop")), page(harness("codex")));
}

/// Checks that a row's capabilities agree with the encoded reply.
#[test]
fn a_row_promises_what_the_codec_keeps() {
    for harness in HARNESSES {
        for row in harness.events {
            let call = sample(harness, row);
            for (name, outcome) in outcomes() {
                let reply = harness.encode(&call, &outcome);
                let at = format!("{} {} {name}: {reply:?}", harness.id, row.native);
                let lost = |what: &str| reply.lost.iter().any(|lost| lost.starts_with(what));
                if name == "context" {
                    let said = reply.stdout.contains("for the model");
                    assert_eq!((said, lost("context")), (row.context, !row.context), "{at}");
                }
                if name == "message" {
                    assert_ne!(reply.stdout.contains("for the user"), lost("a message"), "{at}");
                }
                if name.starts_with("none") {
                    assert_eq!(reply.lost, [""; 0], "{at}");
                    assert_eq!(reply, harness.neutral(row.native), "{at}");
                }
                assert!(reply.stdout.is_empty() || reply.stdout.ends_with('\n'), "{at}");
                assert!(!reply.stdout.trim_end().contains('\n'), "one line, no log before it: {at}");
            }
        }
    }
}
