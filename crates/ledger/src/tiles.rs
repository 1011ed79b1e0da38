// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A log as files that any <https://c2sp.org/tlog-tiles> client can read.

use std::path::{Path, PathBuf};

use crate::tree::Nodes;

/// Hashes in a full tile.
pub const WIDTH: u64 = 256;
/// The levels of the tree that a tile spans.
const HEIGHT: u32 = 8;

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
/// leaf in order; a bundle with a pruned leaf in it is left out.
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
        put(&dir.join(format!("tile/{level}/{}", path(index, width))), &tile)?;
        if level == 0 {
            let mut bundle = Some(Vec::new());
            for seq in index * WIDTH..index * WIDTH + width {
                let bytes = leaf(seq).map_err(read)?;
                bundle = bundle.zip(bytes).and_then(|(bundle, bytes)| entry(bundle, &bytes));
            }
            if let Some(bundle) = bundle {
                put(&dir.join(format!("tile/entries/{}", path(index, width))), &bundle)?;
            }
        }
    }
    put(&dir.join("checkpoint"), checkpoint.as_bytes())
}

fn entry(mut bundle: Vec<u8>, bytes: &[u8]) -> Option<Vec<u8>> {
    bundle.extend(u16::try_from(bytes.len()).ok()?.to_be_bytes());
    bundle.extend(bytes);
    Some(bundle)
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
