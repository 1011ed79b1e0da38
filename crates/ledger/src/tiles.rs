// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Log exports as files that any <https://c2sp.org/tlog-tiles> client can read.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::checkpoint::Checkpoint;
use crate::hash::{HASH_BYTES, Hash};
use crate::problem::{Defect, LogProblem};
use crate::tree::Nodes;
use crate::verify::{Expectations, LeafRef, VerifiedLog, Verifier};

/// Number of hashes in a full tile.
pub const TILE_WIDTH: u64 = 256;
/// Number of tree levels that a tile spans.
const TILE_HEIGHT: u32 = 8;
/// Maximum length of a file: the size of a bundle of leaves with the maximum length.
const MAX_TILE_FILE_BYTES: u64 = TILE_WIDTH * (u16::MAX as u64 + 2);

/// Error for a log that could not be written as tiles.
#[derive(Debug, thiserror::Error)]
pub enum TilesError {
    /// A file cannot be written.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file that cannot be written.
        path: PathBuf,
        /// Error reported by the operating system.
        source: std::io::Error,
    },
    /// The log cannot be read.
    #[error("cannot read the log: {0}")]
    Read(String),
}

/// Returns the path of tile `index` with `width` hashes, such as `x001/x234/067` or `067.p/5`.
pub fn index_path(index: u64, width: u64) -> String {
    let mut parts = vec![format!("{:03}", index % 1000)];
    let mut rest = index / 1000;
    while rest > 0 {
        parts.insert(0, format!("x{:03}", rest % 1000));
        rest /= 1000;
    }
    let path = parts.join("/");
    if width < TILE_WIDTH { format!("{path}.p/{width}") } else { path }
}

/// Returns every tile of a tree as level, index and width.
pub fn all_tiles(size: u64) -> impl Iterator<Item = (u32, u64, u64)> {
    let levels = (0..TILE_HEIGHT).map(move |level| (level, size >> (TILE_HEIGHT * level)));
    levels.take_while(|(_, hashes)| *hashes > 0).flat_map(|(level, hashes)| {
        (0..hashes.div_ceil(TILE_WIDTH))
            .map(move |index| (level, index, (hashes - index * TILE_WIDTH).min(TILE_WIDTH)))
    })
}

/// Writes the checkpoint, tiles and entry bundles to a directory. `leaf` returns the bytes of each leaf, in order. A
/// pruned leaf becomes an empty entry.
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
    for (level, index, width) in all_tiles(size) {
        let mut tile = Vec::with_capacity(8192);
        for at in index * TILE_WIDTH..index * TILE_WIDTH + width {
            tile.extend(nodes.node(level * TILE_HEIGHT, at).map_err(read)?.0);
        }
        write_log_file(&dir.join(tile_path(level, index, width)), &tile)?;
        if level == 0 {
            let mut bundle = Vec::new();
            for seq in index * TILE_WIDTH..index * TILE_WIDTH + width {
                let bytes = leaf(seq).map_err(read)?.unwrap_or_default();
                let length = u16::try_from(bytes.len());
                let length = length.map_err(|_| TilesError::Read(format!("record {seq} is too long")))?;
                bundle.extend(length.to_be_bytes());
                bundle.extend(bytes);
            }
            write_log_file(&dir.join(bundle_path(index, width)), &bundle)?;
        }
    }
    write_log_file(&dir.join(CHECKPOINT_FILE), checkpoint.as_bytes())
}

const CHECKPOINT_FILE: &str = "checkpoint";

fn tile_path(level: u32, index: u64, width: u64) -> String {
    format!("tile/{level}/{}", index_path(index, width))
}

fn bundle_path(index: u64, width: u64) -> String {
    format!("tile/entries/{}", index_path(index, width))
}

/// Verifies a directory of tiles: every leaf, every hash, the checkpoint and the keys. Tiles have no payloads.
/// `progress` receives the number of checked leaves and the total.
pub fn verify(
    dir: &Path,
    expect: Expectations,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<VerifiedLog, LogProblem> {
    let note = read_log_file(dir, CHECKPOINT_FILE).map_err(Defect::in_log)?;
    let invalid = |error: &dyn std::fmt::Display| invalid_file(CHECKPOINT_FILE, error.to_string()).in_log();
    let note = String::from_utf8(note).map_err(|error| invalid(&error))?;
    let (checkpoint, _) = Checkpoint::parse(&note).map_err(|error| invalid(&error))?;
    let (mut verifier, size) = (Verifier::without_payloads(expect)?, checkpoint.size);
    // Hashes computed from the leaves, for each level of tiles above them. They are compared tile by tile.
    let mut above: Vec<Vec<Hash>> = Vec::new();
    for index in 0..size.div_ceil(TILE_WIDTH) {
        let first = index * TILE_WIDTH;
        let width = (size - first).min(TILE_WIDTH);
        let in_tile = |wrong: Defect| wrong.in_leaves(first, first + width);
        let hashes = read_tile(dir, 0, index, width).map_err(in_tile)?;
        let path = bundle_path(index, width);
        let bundle = read_log_file(dir, &path).map_err(in_tile)?;
        let mut rest = bundle.as_slice();
        for (seq, hash) in (first..).zip(hashes) {
            let entry =
                next_entry(&mut rest).ok_or_else(|| in_tile(invalid_file(&path, "ends too early".into())))?;
            let bytes = (!entry.is_empty()).then_some(entry);
            verifier.check_leaf(LeafRef { seq, bytes, hash, payload: None })?;
            let step = usize::try_from(TILE_HEIGHT).unwrap_or(8);
            for (level, hash) in verifier.completed_hashes().iter().step_by(step).skip(1).enumerate() {
                if above.len() <= level {
                    above.push(Vec::new());
                }
                let Some(tile) = above.get_mut(level) else { continue };
                tile.push(*hash);
            }
            compare_tiles(dir, &mut above, seq + 1, size)?;
        }
        if !rest.is_empty() {
            return Err(in_tile(invalid_file(&path, "has more entries than records".into())));
        }
        progress(verifier.size(), Some(size));
    }
    verifier.check_checkpoint(&note)?;
    verifier.finish()
}

/// Compares the computed hashes with the tiles that they fill.
fn compare_tiles(dir: &Path, above: &mut [Vec<Hash>], here: u64, size: u64) -> Result<(), LogProblem> {
    for (level, computed) in (1..).zip(above) {
        let full = u64::try_from(computed.len()).unwrap_or(0);
        if full == 0 || (full < TILE_WIDTH && here < size) {
            continue;
        }
        let last = (here >> (TILE_HEIGHT * level)).saturating_sub(1);
        let index = last / TILE_WIDTH;
        let stored = read_tile(dir, level, index, full).map_err(Defect::in_log)?;
        let span = 1 << (TILE_HEIGHT * level);
        let differs = stored.iter().zip(computed.iter()).position(|(stored, hash)| stored != hash);
        if let Some(at) = differs {
            let from = (index * TILE_WIDTH + u64::try_from(at).unwrap_or(0)) * span;
            let why = format!("stored hash over records {from} to {} does not match", from + span - 1);
            return Err(invalid_file(&tile_path(level, index, full), why).in_log());
        }
        computed.clear();
    }
    Ok(())
}

/// Returns the next entry in a bundle.
fn next_entry<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, after) = rest.split_first_chunk::<2>()?;
    let (entry, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    *rest = after;
    Some(entry)
}

fn read_tile(dir: &Path, level: u32, index: u64, width: u64) -> Result<Vec<Hash>, Defect> {
    let path = tile_path(level, index, width);
    let bytes = read_log_file(dir, &path)?;
    let hashes: Vec<Hash> = bytes.chunks_exact(HASH_BYTES).filter_map(Hash::from_slice).collect();
    let fits = bytes.len() == hashes.len() * HASH_BYTES && u64::try_from(hashes.len()) == Ok(width);
    if fits {
        Ok(hashes)
    } else {
        Err(invalid_file(&path, format!("wrong length for a tile of {width} hashes")))
    }
}

fn invalid_file(path: &str, why: String) -> Defect {
    Defect::InvalidFile { path: path.to_owned(), why }
}

/// Reads a whole file, up to the maximum length.
fn read_log_file(dir: &Path, path: &str) -> Result<Vec<u8>, Defect> {
    let open = || {
        let file = std::fs::File::open(dir.join(path))?;
        let mut bytes = Vec::new();
        file.take(MAX_TILE_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match open() {
        Ok(bytes) if u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_TILE_FILE_BYTES) => {
            Ok(bytes)
        }
        Ok(_) => Err(invalid_file(path, "too long".into())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(invalid_file(path, "missing".into()))
        }
        Err::<_, std::io::Error>(error) => Err(invalid_file(path, error.to_string())),
    }
}

fn write_log_file(path: &Path, bytes: &[u8]) -> Result<(), TilesError> {
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
        assert_eq!(index_path(1_234_067, 256), "x001/x234/067");
        assert_eq!(index_path(0, 256), "000");
        assert_eq!(index_path(273, 112), "273.p/112");
        let tiles: Vec<_> =
            all_tiles(70_000).filter(|(level, index, _)| *level > 0 || *index > 271).collect();
        assert_eq!(tiles, [(0, 272, 256), (0, 273, 112), (1, 0, 256), (1, 1, 17), (2, 0, 1)]);
        assert_eq!(all_tiles(256).collect::<Vec<_>>(), [(0, 0, 256), (1, 0, 1)]);
    }
}
