// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whoever edits a directory of tiles is found too.

use std::path::PathBuf;
use std::sync::LazyLock;

use tempfile::TempDir;
use tenterhook_ledger::{Expect, Hash, Verified, tiles};

use crate::common::{Test, find_secrets, key, record};

/// Tiles of a log of 41 leaves.
struct Tiles(TempDir);

/// A log of 700 leaves: three tiles of leaves, the last of them partial, and one above.
static LARGE: LazyLock<Test> = LazyLock::new(|| {
    let test = Test::new();
    let ledger = test.open();
    record(&ledger, 1..=699);
    ledger.close().unwrap();
    test
});

const ENTRIES: &str = "tile/entries/000.p/41";
const TILE: &str = "tile/0/000.p/41";

impl Tiles {
    fn of(test: &Test) -> Self {
        let dir = tempfile::tempdir().unwrap();
        test.reader().export_tiles(dir.path()).unwrap();
        Self(dir)
    }

    fn new() -> Self {
        Self::of(&Test::filled())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn verify(&self) -> Result<Verified, String> {
        let expect = Expect { key: Some(key(1).key().clone()), since: None };
        tiles::verify(self.0.path(), expect, &mut |_, _| ()).map_err(|problem| problem.to_string())
    }

    /// What is said after these bytes were changed.
    fn changed(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = self.bytes(name);
        let before = bytes.clone();
        change(&mut bytes);
        assert_ne!(before, bytes);
        std::fs::write(self.path(name), bytes).unwrap();
        self.verify().unwrap_err()
    }

    /// Where each entry of the bundle lies.
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

/// Turns a letter of the text around, whatever its length.
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
    assert_eq!(Tiles::new().changed(ENTRIES, deny), "leaf 4: its bytes do not match its hash");
}

#[test]
fn a_hash_in_a_tile() {
    let flip = |bytes: &mut Vec<u8>| bytes[17 * 32] ^= 1;
    assert_eq!(Tiles::new().changed(TILE, flip), "leaf 17: its bytes do not match its hash");
}

#[test]
fn a_leaf_in_tiles_with_its_hash() {
    let tiles = Tiles::new();
    let entry = tiles.entries()[17].clone();
    tiles.changed(ENTRIES, |bytes| replace(&mut bytes[entry.clone()], "\"took_us\":40", "\"took_us\":41"));
    let hash = Hash::of_leaf(&tiles.bytes(ENTRIES)[entry.start + 2..entry.end]);
    let said = tiles.changed(TILE, |bytes| bytes[17 * 32..18 * 32].copy_from_slice(&hash.0));
    assert_eq!(said, "leaves 0 to 40: they do not give the root that was signed");
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
    assert_eq!(
        moved(&swapped),
        "leaf 17: it says that it is leaf 18: two leaves say so, or leaves were moved"
    );
    let mut doubled = usual.clone();
    doubled[18] = 17;
    assert_eq!(
        moved(&doubled),
        "leaf 18: it says that it is leaf 17: two leaves say so, or leaves were moved"
    );
    assert_eq!(
        moved(&usual[..40]),
        "leaves 0 to 40: `tile/0/000.p/41`: a tile of 41 hashes has another length"
    );
}

#[test]
fn bundles_that_are_cut_or_stretched() {
    let tiles = Tiles::new();
    let path = "leaves 0 to 40: `tile/entries/000.p/41`";
    let whole = tiles.bytes(ENTRIES);
    assert_eq!(tiles.changed(ENTRIES, |bytes| bytes.truncate(900)), format!("{path}: it ends too early"));
    std::fs::write(tiles.path(ENTRIES), &whole).unwrap();
    let more = tiles.changed(ENTRIES, |bytes| bytes.extend([0, 0]));
    assert_eq!(more, format!("{path}: there is more in it than leaves"));
    std::fs::remove_file(tiles.path(ENTRIES)).unwrap();
    assert_eq!(tiles.verify().unwrap_err(), format!("{path}: it is missing"));
}

#[test]
fn a_leaf_emptied_as_if_it_were_pruned() {
    let tiles = Tiles::new();
    let entry = tiles.entries()[17].clone();
    let said = tiles.changed(ENTRIES, |bytes| drop(bytes.splice(entry, [0, 0])));
    assert_eq!(said, "leaf 17: it is missing");
}

#[test]
fn a_tile_above_the_leaves() {
    let tiles = Tiles::of(&LARGE);
    let flip = |bytes: &mut Vec<u8>| bytes[40] ^= 1;
    let said = tiles.changed("tile/1/000.p/2", flip);
    assert_eq!(said, "`tile/1/000.p/2`: the stored hash over leaves 256 to 511 is another");
    std::fs::remove_file(tiles.path("tile/1/000.p/2")).unwrap();
    assert_eq!(tiles.verify().unwrap_err(), "`tile/1/000.p/2`: it is missing");
}

#[test]
fn the_checkpoint_of_tiles() {
    let tiles = Tiles::new();
    let grown = tiles.changed("checkpoint", |bytes| replace(bytes, "\n41\n", "\n40\n"));
    assert_eq!(grown, "leaves 0 to 39: `tile/0/000.p/40`: it is missing");
    let tiles = Tiles::new();
    let signature = tiles.bytes("checkpoint").len() - 10;
    // Another letter of base 64.
    let other = |letter: u8| if letter == b'A' { b'B' } else { b'A' };
    let said = tiles.changed("checkpoint", |bytes| bytes[signature] = other(bytes[signature]));
    assert_eq!(
        said,
        "the checkpoint of 41 leaves: the signature of `example.com/ledger` does not fit the text"
    );
    assert!(
        tiles
            .changed("checkpoint", |bytes| bytes.truncate(20))
            .starts_with("`checkpoint`: not a signed note")
    );
    std::fs::remove_file(tiles.path("checkpoint")).unwrap();
    assert_eq!(tiles.verify().unwrap_err(), "`checkpoint`: it is missing");
}

#[test]
fn older_tiles_and_tiles_of_another_log() {
    let (older, other) = (Tiles::new(), Tiles::new());
    let held = LARGE.reader().checkpoint().unwrap().unwrap().1;
    let against = Expect { key: None, since: Some(held) };
    let said = tiles::verify(older.0.path(), against, &mut |_, _| ()).unwrap_err().to_string();
    assert_eq!(said, "older than the checkpoint you hold: 41 < 700 leaves");
    // The leaves of one under the checkpoint of the other.
    std::fs::copy(other.path("checkpoint"), older.path("checkpoint")).unwrap();
    assert_eq!(older.verify().unwrap_err(), "leaves 0 to 40: they do not give the root that was signed");
}

#[test]
fn tiles_of_a_pruned_log_still_verify() {
    let test = Test::new();
    let ledger = test.open();
    record(&ledger, 1..=299);
    ledger.prune(270, "dev", "older than a year", &find_secrets).unwrap();
    ledger.close().unwrap();
    let verified = Tiles::of(&test).verify().unwrap();
    assert_eq!((verified.size, verified.pruned), (301, 270), "all but the first");
}
