// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whoever edits an export is found as well, without any store.

use serde_json::Value;
use tenterhook_ledger::{Expect, Format, export};

use crate::common::{Test, key};

fn exported() -> Vec<String> {
    let mut file = Vec::new();
    Test::filled().reader().export(Format::Jsonl, &mut file).unwrap();
    String::from_utf8(file).unwrap().lines().map(ToOwned::to_owned).collect()
}

fn verify(lines: &[String]) -> Result<u64, String> {
    let text = lines.join("\n") + "\n";
    let expect = Expect { key: Some(key(1).key().clone()), since: None };
    export::verify(text.as_bytes(), expect, &mut |_, _| ())
        .map(|ok| ok.size)
        .map_err(|problem| problem.to_string())
}

/// The line of a leaf.
fn at(lines: &[String], seq: u64) -> usize {
    lines.iter().position(|line| line.starts_with(&format!("{{\"seq\":{seq},"))).unwrap()
}

/// What is said when line of leaf 17 is changed so.
fn changed(from: &str, to: &str) -> String {
    let mut lines = exported();
    let line = at(&lines, 17);
    assert!(lines[line].contains(from), "{from} in {}", lines[line]);
    lines[line] = lines[line].replacen(from, to, 1);
    verify(&lines).unwrap_err()
}

#[test]
fn an_export_verifies_by_itself() {
    assert_eq!(verify(&exported()), Ok(41));
    let lines = exported();
    assert_eq!(lines.iter().filter(|line| line.starts_with("{\"checkpoint\"")).count(), 4);
    assert!(lines.last().unwrap().starts_with("{\"checkpoint\""));
    for line in &lines {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[test]
fn a_field_of_a_leaf_in_an_export() {
    assert_eq!(
        changed("\"verdict\":\"none\"", "\"verdict\":\"deny\""),
        "leaf 17: its bytes do not match its hash"
    );
    assert_eq!(changed("{\"v\":1,", "{\"v\": 1,"), "leaf 17: its bytes do not match its hash");
    assert_eq!(
        changed("\"took_us\":40", "\"took_us\":40,\"took_us\":41"),
        "leaf 17: its bytes do not match its hash"
    );
}

#[test]
fn a_payload_or_salt_in_an_export() {
    let payload = "leaf 17: its payload does not match its commitment";
    assert_eq!(changed("echo 17", "echo 18"), payload);
    assert_eq!(changed("\"salt\":\"", "\"salt\":\"A"), payload);
    assert_eq!(changed("\"payload\":\"{", "\"other\":\"{"), payload);
}

#[test]
fn a_leaf_deleted_duplicated_inserted_or_moved_in_an_export() {
    let lines = exported();
    let (here, next) = (at(&lines, 17), at(&lines, 18));
    let mut without = lines.clone();
    without.remove(here);
    assert_eq!(verify(&without).unwrap_err(), "leaf 17: it is missing");
    let mut twice = lines.clone();
    twice.insert(next, lines[here].clone());
    assert_eq!(verify(&twice).unwrap_err(), "leaf 17: there are two of it");
    let mut swapped = lines.clone();
    swapped.swap(here, next);
    assert_eq!(verify(&swapped).unwrap_err(), "leaf 17: it is missing");
    let mut renumbered = lines.clone();
    renumbered[next] = lines[here].replacen("\"seq\":17", "\"seq\":18", 1);
    assert_eq!(
        verify(&renumbered).unwrap_err(),
        "leaf 18: it says that it is leaf 17: two leaves say so, or leaves were moved"
    );
    let mut headless = lines.clone();
    headless.remove(at(&lines, 0));
    assert_eq!(verify(&headless).unwrap_err(), "leaf 0: it is missing: 1 leaves were signed, 0 are here");
    let mut pruned = lines;
    let hash: Value = serde_json::from_str(&pruned[here]).unwrap();
    pruned[here] = format!("{{\"seq\":17,\"hash\":{},\"pruned\":true}}", hash["hash"]);
    assert_eq!(verify(&pruned).unwrap_err(), "leaf 17: it is missing");
}

#[test]
fn an_export_that_ends_too_early() {
    let lines = exported();
    assert_eq!(
        verify(&lines[..lines.len() - 5]).unwrap_err(),
        "leaf 37: it is missing: 41 leaves were signed, 37 are here"
    );
    assert!(verify(&lines[1..]).unwrap_err().ends_with("the export has no head"));
    let mut half = lines.clone();
    let last = half.len() - 1;
    half[last].truncate(30);
    assert!(verify(&half).unwrap_err().starts_with("line 46: it is no leaf: "));
}

#[test]
fn a_leaf_with_its_hash_in_an_export() {
    let mut lines = exported();
    let line = at(&lines, 18);
    let read: Value = serde_json::from_str(&lines[line]).unwrap();
    let start = lines[line].find("\"leaf\":").unwrap() + 7;
    let end = lines[line].find(",\"salt\"").unwrap();
    let leaf = lines[line][start..end].replace("\"took_us\":40", "\"took_us\":41");
    let hash = tenterhook_ledger::Hash::of_leaf(leaf.as_bytes());
    lines[line] = lines[line]
        .replace("\"took_us\":40", "\"took_us\":41")
        .replace(read["hash"].as_str().unwrap(), &hash.to_string());
    assert_eq!(verify(&lines).unwrap_err(), "leaves 17 to 32: they do not give the root that was signed");
}

#[test]
fn the_end_of_another_export() {
    let (mut lines, other) = (exported(), exported());
    let cut = at(&lines, 35);
    lines.truncate(cut);
    lines.extend_from_slice(&other[cut..]);
    assert_eq!(verify(&lines).unwrap_err(), "leaves 33 to 40: they do not give the root that was signed");
}
