// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checkpoints in the format of <https://c2sp.org/tlog-checkpoint>: a signed tree size and root hash.

use crate::hash::Hash;
use crate::note::{Note, NoteError, SignatureLine};
use crate::sign::{SignError, Signer};

/// The content of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The log's origin (name).
    pub origin: String,
    /// Number of leaves.
    pub size: u64,
    /// Root hash of these leaves.
    pub root: Hash,
}

impl Checkpoint {
    /// Parses a signed checkpoint without checking its signatures; [`Note::check`] does that.
    pub fn parse(note: &str) -> Result<(Self, Note), NoteError> {
        let note = Note::parse(note)?;
        let checkpoint = Self::from_text(&note.text)?;
        Ok((checkpoint, note))
    }

    fn from_text(text: &str) -> Result<Self, NoteError> {
        let mut lines = text.split('\n');
        let (Some(origin), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next()) else {
            return Err(NoteError::Form("a checkpoint has three lines: origin, size and root"));
        };
        let number: u64 = size.parse().map_err(|_| NoteError::Form("invalid tree size"))?;
        if origin.is_empty() || number.to_string() != size {
            return Err(NoteError::Form("the origin is empty, or the size is not in canonical form"));
        }
        let root = root.parse().map_err(|_| NoteError::Form("invalid root hash"))?;
        Ok(Self { origin: origin.to_owned(), size: number, root })
    }

    /// Returns the text that signatures cover.
    pub fn text(&self) -> String {
        format!("{}\n{}\n{}\n", self.origin, self.size, self.root)
    }

    /// Signs the checkpoint with each signer, in this order.
    pub fn sign(&self, signers: &[&dyn Signer]) -> Result<Note, SignError> {
        let text = self.text();
        let line = |signer: &&dyn Signer| Ok(SignatureLine::new(signer.key(), signer.sign(text.as_bytes())?));
        let signatures = signers.iter().map(line).collect::<Result<_, SignError>>()?;
        Ok(Note { text, signatures })
    }
}
