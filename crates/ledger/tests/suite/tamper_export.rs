// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Edits of an export are detected without access to the store.

use serde_json::Value;
use tenterhook_ledger::{Expectations, FileFormat, export};

use crate::common::{TestLedger, key};

fn exported() -> Vec<String> {
    let mut file = Vec::new();
    TestLedger::filled().reader().export(FileFormat::Jsonl, &mut file).unwrap();
    String::from_utf8(file).unwrap().lines().map(ToOwned::to_owned).collect()
}

fn verify(lines: &[String]) -> Result<u64, String> {
    let text = lines.join("\n") + "\n";
    let expect = Expectations { key: Some(key(1).key().clone()), since: None };
    export::verify(text.as_bytes(), expect, &mut |_, _| ())
        .map(|ok| ok.size)
        .map_err(|problem| problem.to_string())
}

/// Returns the index of a leaf's line.
fn at(lines: &[String], seq: u64) -> usize {
    lines.iter().position(|line| line.starts_with(&format!("{{\"seq\":{seq},"))).unwrap()
}

/// Edits the line of leaf 17 and returns the problem that is found.
fn problem_after(from: &str, to: &str) -> String {
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
        problem_after("\"verdict\":\"none\"", "\"verdict\":\"deny\""),
        "record 17: content does not match its hash"
    );
    assert_eq!(problem_after("{\"v\":1,", "{\"v\": 1,"), "record 17: content does not match its hash");
    assert_eq!(
        problem_after("\"took_us\":40", "\"took_us\":40,\"took_us\":41"),
        "record 17: content does not match its hash"
    );
}

#[test]
fn a_payload_or_salt_in_an_export() {
    let payload = "record 17: payload does not match its commitment";
    assert_eq!(problem_after("echo 17", "echo 18"), payload);
    assert_eq!(problem_after("\"salt\":\"", "\"salt\":\"A"), payload);
    assert_eq!(problem_after("\"payload\":\"{", "\"other\":\"{"), payload);
}

#[test]
fn a_leaf_deleted_duplicated_inserted_or_moved_in_an_export() {
    let lines = exported();
    let (here, next) = (at(&lines, 17), at(&lines, 18));
    let mut without = lines.clone();
    without.remove(here);
    assert_eq!(verify(&without).unwrap_err(), "record 17: missing");
    let mut twice = lines.clone();
    twice.insert(next, lines[here].clone());
    assert_eq!(verify(&twice).unwrap_err(), "record 17: occurs twice");
    let mut swapped = lines.clone();
    swapped.swap(here, next);
    assert_eq!(verify(&swapped).unwrap_err(), "record 17: missing");
    let mut renumbered = lines.clone();
    renumbered[next] = lines[here].replacen("\"seq\":17", "\"seq\":18", 1);
    assert_eq!(
        verify(&renumbered).unwrap_err(),
        "record 18: has the number 17: records were copied or moved"
    );
    let mut headless = lines.clone();
    headless.remove(at(&lines, 0));
    assert_eq!(verify(&headless).unwrap_err(), "record 0: missing: 1 records were signed, 0 are present");
    let mut pruned = lines;
    let hash: Value = serde_json::from_str(&pruned[here]).unwrap();
    pruned[here] = format!("{{\"seq\":17,\"hash\":{},\"pruned\":true}}", hash["hash"]);
    assert_eq!(verify(&pruned).unwrap_err(), "record 17: missing");
}

#[test]
fn an_export_that_ends_too_early() {
    let lines = exported();
    assert_eq!(
        verify(&lines[..lines.len() - 5]).unwrap_err(),
        "record 37: missing: 41 records were signed, 37 are present"
    );
    assert!(verify(&lines[1..]).unwrap_err().ends_with("the export has no head line"));
    let mut half = lines.clone();
    let last = half.len() - 1;
    half[last].truncate(30);
    assert!(verify(&half).unwrap_err().starts_with("line 46: invalid record: "));
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
    assert_eq!(verify(&lines).unwrap_err(), "records 17 to 32: root hash does not match the signed one");
}

#[test]
fn the_end_of_another_export() {
    let (mut lines, other) = (exported(), exported());
    let cut = at(&lines, 35);
    lines.truncate(cut);
    lines.extend_from_slice(&other[cut..]);
    assert_eq!(verify(&lines).unwrap_err(), "records 33 to 40: root hash does not match the signed one");
}
