// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checkpoints, as <https://c2sp.org/tlog-checkpoint> has them: a signed size and root.

use crate::hash::Hash;
use crate::note::{Line, Note, NoteError};
use crate::sign::{SignError, Signer};

/// What a checkpoint says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which log it is.
    pub origin: String,
    /// How many leaves the log had.
    pub size: u64,
    /// The root hash over them.
    pub root: Hash,
}

impl Checkpoint {
    /// Reads a signed checkpoint. Its signatures are not checked yet: [`Note::check`].
    pub fn parse(note: &str) -> Result<(Self, Note), NoteError> {
        let note = Note::parse(note)?;
        let checkpoint = Self::from_text(&note.text)?;
        Ok((checkpoint, note))
    }

    fn from_text(text: &str) -> Result<Self, NoteError> {
        let mut lines = text.split('\n');
        let (Some(origin), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next()) else {
            return Err(NoteError::Form("a checkpoint has an origin, a size and a root"));
        };
        let number: u64 = size.parse().map_err(|_| NoteError::Form("the size of the tree is no number"))?;
        if origin.is_empty() || number.to_string() != size {
            return Err(NoteError::Form("the origin is empty or the size is not written plainly"));
        }
        let root = root.parse().map_err(|_| NoteError::Form("the root is no hash"))?;
        Ok(Self { origin: origin.to_owned(), size: number, root })
    }

    /// The text that is signed.
    pub fn text(&self) -> String {
        format!("{}\n{}\n{}\n", self.origin, self.size, self.root)
    }

    /// The checkpoint signed by each of these, in this order.
    pub fn sign(&self, signers: &[&dyn Signer]) -> Result<Note, SignError> {
        let text = self.text();
        let line = |signer: &&dyn Signer| Ok(Line::new(signer.key(), signer.sign(text.as_bytes())?));
        let signatures = signers.iter().map(line).collect::<Result<_, SignError>>()?;
        Ok(Note { text, signatures })
    }
}
