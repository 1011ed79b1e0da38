// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A log as files that any <https://c2sp.org/tlog-tiles> client can read.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::checkpoint::Checkpoint;
use crate::hash::{HASH_BYTES, Hash};
use crate::problem::{Problem, Wrong};
use crate::tree::Nodes;
use crate::verify::{Expect, Item, Verified, Verifier};

/// Hashes in a full tile.
pub const WIDTH: u64 = 256;
/// The levels of the tree that a tile spans.
const HEIGHT: u32 = 8;
/// No file is longer: a bundle of the longest leaves, in bytes.
const LONGEST: u64 = WIDTH * (u16::MAX as u64 + 2);

/// A log that cannot be written as tiles.
#[derive(Debug, thiserror::Error)]
pub enum TilesError {
    /// A file cannot be written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The log cannot be read.
    #[error("the log cannot be read: {0}")]
    Read(String),
}

/// The path of tile `index`, which has `width` hashes: `x001/x234/067`, `067.p/5`.
pub fn path(index: u64, width: u64) -> String {
    let mut parts = vec![format!("{:03}", index % 1000)];
    let mut rest = index / 1000;
    while rest > 0 {
        parts.insert(0, format!("x{:03}", rest % 1000));
        rest /= 1000;
    }
    let path = parts.join("/");
    if width < WIDTH { format!("{path}.p/{width}") } else { path }
}

/// Every tile of a tree: its level, index and width.
pub fn all(size: u64) -> impl Iterator<Item = (u32, u64, u64)> {
    let levels = (0..HEIGHT).map(move |level| (level, size >> (HEIGHT * level)));
    levels.take_while(|(_, hashes)| *hashes > 0).flat_map(|(level, hashes)| {
        (0..hashes.div_ceil(WIDTH)).map(move |index| (level, index, (hashes - index * WIDTH).min(WIDTH)))
    })
}

/// Writes checkpoint, tiles and entry bundles to a directory. `leaf` is asked for the bytes of each
/// leaf in order; in the place of one that was pruned stands an empty entry.
pub fn write<N: Nodes>(
    dir: &Path,
    (checkpoint, size): (&str, u64),
    nodes: &N,
    leaf: &mut dyn FnMut(u64) -> Result<Option<Vec<u8>>, N::Error>,
) -> Result<(), TilesError>
where
    N::Error: std::fmt::Display,
{
    let read = |error: N::Error| TilesError::Read(error.to_string());
    for (level, index, width) in all(size) {
        let mut tile = Vec::with_capacity(8192);
        for at in index * WIDTH..index * WIDTH + width {
            tile.extend(nodes.node(level * HEIGHT, at).map_err(read)?.0);
        }
        put(&dir.join(tile_path(level, index, width)), &tile)?;
        if level == 0 {
            let mut bundle = Vec::new();
            for seq in index * WIDTH..index * WIDTH + width {
                let bytes = leaf(seq).map_err(read)?.unwrap_or_default();
                let length = u16::try_from(bytes.len());
                let length = length.map_err(|_| TilesError::Read(format!("leaf {seq} is too long")))?;
                bundle.extend(length.to_be_bytes());
                bundle.extend(bytes);
            }
            put(&dir.join(bundle_path(index, width)), &bundle)?;
        }
    }
    put(&dir.join(CHECKPOINT), checkpoint.as_bytes())
}

const CHECKPOINT: &str = "checkpoint";

fn tile_path(level: u32, index: u64, width: u64) -> String {
    format!("tile/{level}/{}", path(index, width))
}

fn bundle_path(index: u64, width: u64) -> String {
    format!("tile/entries/{}", path(index, width))
}

/// Verifies a directory of tiles: every leaf, every hash of every tile, the checkpoint and the keys.
/// Payloads are not in it. `progress` hears how many leaves were checked, out of how many.
pub fn verify(
    dir: &Path,
    expect: Expect,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Verified, Problem> {
    let note = get(dir, CHECKPOINT).map_err(Wrong::here)?;
    let note = String::from_utf8(note).map_err(|error| wrong(CHECKPOINT, error.to_string()).here())?;
    let (checkpoint, _) =
        Checkpoint::parse(&note).map_err(|error| wrong(CHECKPOINT, error.to_string()).here())?;
    let (mut verifier, size) = (Verifier::without_payloads(expect)?, checkpoint.size);
    // Hashes that the leaves gave, for each level of tiles above the leaves; compared tile by tile.
    let mut above: Vec<Vec<Hash>> = Vec::new();
    for index in 0..size.div_ceil(WIDTH) {
        let first = index * WIDTH;
        let width = (size - first).min(WIDTH);
        let placed = |wrong: Wrong| wrong.between(first, first + width);
        let hashes = tile(dir, 0, index, width).map_err(placed)?;
        let path = bundle_path(index, width);
        let bundle = get(dir, &path).map_err(placed)?;
        let mut rest = bundle.as_slice();
        for (seq, hash) in (first..).zip(hashes) {
            let entry = entry(&mut rest).ok_or_else(|| placed(wrong(&path, "it ends too early".into())))?;
            let bytes = (!entry.is_empty()).then_some(entry);
            verifier.leaf(Item { seq, bytes, hash, payload: None })?;
            let step = usize::try_from(HEIGHT).unwrap_or(8);
            for (place, hash) in verifier.completed().iter().step_by(step).skip(1).enumerate() {
                if above.len() <= place {
                    above.push(Vec::new());
                }
                let Some(tile) = above.get_mut(place) else { continue };
                tile.push(*hash);
            }
            compare(dir, &mut above, seq + 1, size)?;
        }
        if !rest.is_empty() {
            return Err(placed(wrong(&path, "there is more in it than leaves".into())));
        }
        progress(verifier.size(), Some(size));
    }
    verifier.checkpoint(&note)?;
    verifier.finish()
}

/// Compares the hashes that were gathered with the tiles that they fill.
fn compare(dir: &Path, above: &mut [Vec<Hash>], here: u64, size: u64) -> Result<(), Problem> {
    for (level, gathered) in (1..).zip(above) {
        let full = u64::try_from(gathered.len()).unwrap_or(0);
        if full == 0 || (full < WIDTH && here < size) {
            continue;
        }
        let last = (here >> (HEIGHT * level)).saturating_sub(1);
        let index = last / WIDTH;
        let stored = tile(dir, level, index, full).map_err(Wrong::here)?;
        let span = 1 << (HEIGHT * level);
        let differs = stored.iter().zip(gathered.iter()).position(|(stored, hash)| stored != hash);
        if let Some(at) = differs {
            let from = (index * WIDTH + u64::try_from(at).unwrap_or(0)) * span;
            let why = format!("the stored hash over leaves {from} to {} is another", from + span - 1);
            return Err(wrong(&tile_path(level, index, full), why).here());
        }
        gathered.clear();
    }
    Ok(())
}

/// The next entry of a bundle.
fn entry<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, after) = rest.split_first_chunk::<2>()?;
    let (entry, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    *rest = after;
    Some(entry)
}

fn tile(dir: &Path, level: u32, index: u64, width: u64) -> Result<Vec<Hash>, Wrong> {
    let path = tile_path(level, index, width);
    let bytes = get(dir, &path)?;
    let hashes: Vec<Hash> = bytes.chunks_exact(HASH_BYTES).filter_map(Hash::from_slice).collect();
    let fits = bytes.len() == hashes.len() * HASH_BYTES && u64::try_from(hashes.len()) == Ok(width);
    if fits { Ok(hashes) } else { Err(wrong(&path, format!("a tile of {width} hashes has another length"))) }
}

fn wrong(path: &str, why: String) -> Wrong {
    Wrong::File { path: path.to_owned(), why }
}

/// A whole file, if it is not longer than any can be.
fn get(dir: &Path, path: &str) -> Result<Vec<u8>, Wrong> {
    let open = || {
        let file = std::fs::File::open(dir.join(path))?;
        let mut bytes = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match open() {
        Ok(bytes) if u64::try_from(bytes.len()).is_ok_and(|length| length <= LONGEST) => Ok(bytes),
        Ok(_) => Err(wrong(path, "it is longer than any such file".into())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(wrong(path, "it is missing".into()))
        }
        Err::<_, std::io::Error>(error) => Err(wrong(path, error.to_string())),
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), TilesError> {
    let io = |source| TilesError::Io { path: path.to_owned(), source };
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(io)?;
    }
    std::fs::write(path, bytes).map_err(io)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_specification_s_examples() {
        assert_eq!(path(1_234_067, 256), "x001/x234/067");
        assert_eq!(path(0, 256), "000");
        assert_eq!(path(273, 112), "273.p/112");
        let tiles: Vec<_> = all(70_000).filter(|(level, index, _)| *level > 0 || *index > 271).collect();
        assert_eq!(tiles, [(0, 272, 256), (0, 273, 112), (1, 0, 256), (1, 1, 17), (2, 0, 1)]);
        assert_eq!(all(256).collect::<Vec<_>>(), [(0, 0, 256), (1, 0, 1)]);
    }
}
