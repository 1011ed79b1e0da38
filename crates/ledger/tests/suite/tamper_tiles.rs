// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Edits of a directory of tiles are detected.

use std::path::PathBuf;
use std::sync::LazyLock;

use tempfile::TempDir;
use tenterhook_ledger::{Expectations, Hash, VerifiedLog, tiles};

use crate::common::{TestLedger, find_secrets, key, record};

/// An export of a log with 41 leaves as tiles.
struct Tiles(TempDir);

/// A log of 700 leaves: three tiles for the leaves, the last of them partial, and one tile on the level above.
static LARGE: LazyLock<TestLedger> = LazyLock::new(|| {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=699);
    ledger.close().unwrap();
    test
});

const ENTRIES: &str = "tile/entries/000.p/41";
const TILE: &str = "tile/0/000.p/41";

impl Tiles {
    fn of(test: &TestLedger) -> Self {
        let dir = tempfile::tempdir().unwrap();
        test.reader().export_tiles(dir.path()).unwrap();
        Self(dir)
    }

    fn new() -> Self {
        Self::of(&TestLedger::filled())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn verify(&self) -> Result<VerifiedLog, String> {
        let expect = Expectations { key: Some(key(1).key().clone()), since: None };
        tiles::verify(self.0.path(), expect, &mut |_, _| ()).map_err(|problem| problem.to_string())
    }

    /// Changes the bytes of a file and returns the problem that is found.
    fn problem_after(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = self.bytes(name);
        let before = bytes.clone();
        change(&mut bytes);
        assert_ne!(before, bytes);
        std::fs::write(self.path(name), bytes).unwrap();
        self.verify().unwrap_err()
    }

    /// The range of each entry in the bundle.
    fn entries(&self) -> Vec<std::ops::Range<usize>> {
        let bytes = self.bytes(ENTRIES);
        let (mut at, mut found) = (0, Vec::new());
        while at < bytes.len() {
            let end = at + 2 + usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
            found.push(at..end);
            at = end;
        }
        found
    }
}

/// Replaces a string with another string of the same length.
fn replace(bytes: &mut [u8], from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
}

#[test]
fn tiles_verify_by_themselves_and_say_that_payloads_are_not_in_them() {
    let verified = Tiles::new().verify().unwrap();
    assert_eq!((verified.size, verified.payloads, verified.on_first_use), (41, false, false));
    let verified = Tiles::of(&LARGE).verify().unwrap();
    assert_eq!((verified.size, verified.root), (700, LARGE.verify().unwrap().root));
}

#[test]
fn a_leaf_in_tiles() {
    let deny = |bytes: &mut Vec<u8>| replace(bytes, "\"verdict\":\"deny\"", "\"verdict\":\"none\"");
    assert_eq!(Tiles::new().problem_after(ENTRIES, deny), "record 4: content does not match its hash");
}

#[test]
fn a_hash_in_a_tile() {
    let flip = |bytes: &mut Vec<u8>| bytes[17 * 32] ^= 1;
    assert_eq!(Tiles::new().problem_after(TILE, flip), "record 17: content does not match its hash");
}

#[test]
fn a_leaf_in_tiles_with_its_hash() {
    let tiles = Tiles::new();
    let entry = tiles.entries()[17].clone();
    tiles.problem_after(ENTRIES, |bytes| {
        replace(&mut bytes[entry.clone()], "\"took_us\":40", "\"took_us\":41");
    });
    let hash = Hash::of_leaf(&tiles.bytes(ENTRIES)[entry.start + 2..entry.end]);
    let problem = tiles.problem_after(TILE, |bytes| bytes[17 * 32..18 * 32].copy_from_slice(&hash.0));
    assert_eq!(problem, "records 0 to 40: root hash does not match the signed one");
}

#[test]
fn leaves_in_tiles_swapped_doubled_or_left_out() {
    let moved = |order: &[usize]| {
        let tiles = Tiles::new();
        let (entries, bytes, hashes) = (tiles.entries(), tiles.bytes(ENTRIES), tiles.bytes(TILE));
        let bundle: Vec<u8> = order.iter().flat_map(|at| bytes[entries[*at].clone()].to_vec()).collect();
        let tile: Vec<u8> = order.iter().flat_map(|at| hashes[at * 32..(at + 1) * 32].to_vec()).collect();
        std::fs::write(tiles.path(ENTRIES), bundle).unwrap();
        std::fs::write(tiles.path(TILE), tile).unwrap();
        tiles.verify().unwrap_err()
    };
    let usual: Vec<usize> = (0..41).collect();
    let mut swapped = usual.clone();
    swapped.swap(17, 18);
    assert_eq!(moved(&swapped), "record 17: has the number 18: records were copied or moved");
    let mut doubled = usual.clone();
    doubled[18] = 17;
    assert_eq!(moved(&doubled), "record 18: has the number 17: records were copied or moved");
    assert_eq!(
        moved(&usual[..40]),
        "records 0 to 40: `tile/0/000.p/41`: wrong length for a tile of 41 hashes"
    );
}

#[test]
fn bundles_that_are_cut_or_stretched() {
    let tiles = Tiles::new();
    let path = "records 0 to 40: `tile/entries/000.p/41`";
    let whole = tiles.bytes(ENTRIES);
    assert_eq!(tiles.problem_after(ENTRIES, |bytes| bytes.truncate(900)), format!("{path}: ends too early"));
    std::fs::write(tiles.path(ENTRIES), &whole).unwrap();
    let more = tiles.problem_after(ENTRIES, |bytes| bytes.extend([0, 0]));
    assert_eq!(more, format!("{path}: has more entries than records"));
    std::fs::remove_file(tiles.path(ENTRIES)).unwrap();
    assert_eq!(tiles.verify().unwrap_err(), format!("{path}: missing"));
}

#[test]
fn a_leaf_emptied_as_if_it_were_pruned() {
    let tiles = Tiles::new();
    let entry = tiles.entries()[17].clone();
    let problem = tiles.problem_after(ENTRIES, |bytes| drop(bytes.splice(entry, [0, 0])));
    assert_eq!(problem, "record 17: missing");
}

#[test]
fn a_tile_above_the_leaves() {
    let tiles = Tiles::of(&LARGE);
    let flip = |bytes: &mut Vec<u8>| bytes[40] ^= 1;
    let problem = tiles.problem_after("tile/1/000.p/2", flip);
    assert_eq!(problem, "`tile/1/000.p/2`: stored hash over records 256 to 511 does not match");
    std::fs::remove_file(tiles.path("tile/1/000.p/2")).unwrap();
    assert_eq!(tiles.verify().unwrap_err(), "`tile/1/000.p/2`: missing");
}

#[test]
fn the_checkpoint_of_tiles() {
    let tiles = Tiles::new();
    let grown = tiles.problem_after("checkpoint", |bytes| replace(bytes, "\n41\n", "\n40\n"));
    assert_eq!(grown, "records 0 to 39: `tile/0/000.p/40`: missing");
    let tiles = Tiles::new();
    let signature = tiles.bytes("checkpoint").len() - 10;
    // A different letter of the base64 alphabet.
    let other = |letter: u8| if letter == b'A' { b'B' } else { b'A' };
    let problem = tiles.problem_after("checkpoint", |bytes| bytes[signature] = other(bytes[signature]));
    assert_eq!(
        problem,
        "checkpoint of 41 records: the signature of `example.com/ledger` does not match the text"
    );
    assert!(
        tiles
            .problem_after("checkpoint", |bytes| bytes.truncate(20))
            .starts_with("`checkpoint`: not a signed note")
    );
    std::fs::remove_file(tiles.path("checkpoint")).unwrap();
    assert_eq!(tiles.verify().unwrap_err(), "`checkpoint`: missing");
}

#[test]
fn older_tiles_and_tiles_of_another_log() {
    let (older, other) = (Tiles::new(), Tiles::new());
    let held = LARGE.reader().checkpoint().unwrap().unwrap().1;
    let against = Expectations { key: None, since: Some(held) };
    let problem = tiles::verify(older.0.path(), against, &mut |_, _| ()).unwrap_err().to_string();
    assert_eq!(problem, "older than the reference checkpoint: 41 < 700 records");
    // The directory contains the leaves of one log and the checkpoint of the other.
    std::fs::copy(other.path("checkpoint"), older.path("checkpoint")).unwrap();
    assert_eq!(older.verify().unwrap_err(), "records 0 to 40: root hash does not match the signed one");
}

#[test]
fn tiles_of_a_pruned_log_still_verify() {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=299);
    ledger.prune(270, "dev", "older than a year", &find_secrets).unwrap();
    ledger.close().unwrap();
    let verified = Tiles::of(&test).verify().unwrap();
    assert_eq!((verified.size, verified.pruned), (301, 270), "all but the first");
}
