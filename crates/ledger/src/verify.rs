// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The verifier. Writer and verifier share only the format. The verifier reads leaves and checkpoints in order and
//! uses constant memory.

use crate::checkpoint::Checkpoint;
use crate::envelope::{ENVELOPE_VERSION, Envelope, LeafKind, PayloadStorage};
use crate::hash::Hash;
use crate::key_chain::KeyChain;
use crate::leaf_ranges::LeafRanges;
use crate::note::VerifierKey;
use crate::problem::{Defect, LogProblem};
use crate::tree::Frontier;

/// What the caller of a verification already knows about the log.
#[derive(Debug, Clone, Default)]
pub struct Expectations {
    /// A key that must have signed the log. Without it, the log's own first key is trusted on first use.
    pub key: Option<VerifierKey>,
    /// An earlier checkpoint that the log must extend.
    pub since: Option<String>,
}

/// A leaf to verify, in its stored form.
#[derive(Debug, Clone, Copy)]
pub struct LeafRef<'a> {
    /// Number under which the leaf is stored.
    pub seq: u64,
    /// The envelope's bytes; `None` if the leaf was pruned.
    pub bytes: Option<&'a [u8]>,
    /// The leaf's stored hash.
    pub hash: Hash,
    /// Stored payload, if any.
    pub payload: Option<PayloadRef<'a>>,
}

/// A payload to verify, in its stored form.
#[derive(Debug, Clone, Copy)]
pub struct PayloadRef<'a> {
    /// Salt of the commitment; `None` if the payload was erased.
    pub salt: Option<&'a [u8]>,
    /// The payload's bytes; `None` if the payload was erased or was too large to be stored.
    pub bytes: Option<&'a [u8]>,
}

/// Result of a successful verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedLog {
    /// The log's origin (name).
    pub origin: String,
    /// Number of leaves.
    pub size: u64,
    /// Root hash of all leaves.
    pub root: Hash,
    /// Number of leaves that no published checkpoint covers yet; only the head's signature covers them.
    pub unpublished: u64,
    /// Number of pruned leaves; each is covered by a `prune` leaf.
    pub pruned: u64,
    /// Number of erased or pruned payloads; each is covered by an `erase` or `prune` leaf.
    pub erased: u64,
    /// Number of checked checkpoints.
    pub checkpoints: u64,
    /// All keys that signed the log, oldest first.
    pub keys: Vec<VerifierKey>,
    /// Whether the log's own key was trusted because the caller gave no key.
    pub on_first_use: bool,
    /// Whether payloads were checked. Tiles contain no payloads.
    pub payloads: bool,
}

/// Checks a log leaf by leaf.
#[derive(Debug)]
pub struct Verifier {
    expect: Expectations,
    payloads: bool,
    since: Option<Checkpoint>,
    tree: Frontier,
    chain: KeyChain,
    completed: Vec<Hash>,
    /// Number of leaves covered by a valid checkpoint or head.
    signed: u64,
    /// Recording time in the first leaf after the `signed` ones.
    unsigned_since: Option<String>,
    /// Number of leaves covered by a valid checkpoint.
    published: u64,
    checkpoints: u64,
    missing: LeafRanges,
    missing_payloads: LeafRanges,
    pruned: LeafRanges,
    erased: LeafRanges,
}

impl Verifier {
    /// Creates a verifier for a log that starts with leaf 0.
    pub fn new(expect: Expectations) -> Result<Self, LogProblem> {
        let since = match &expect.since {
            Some(note) => {
                Some(Checkpoint::parse(note).map_err(|error| Defect::InvalidReference(error).in_log())?.0)
            }
            None => None,
        };
        let mut this = Self {
            expect,
            payloads: true,
            since,
            tree: Frontier::new(),
            chain: KeyChain::default(),
            completed: Vec::new(),
            signed: 0,
            unsigned_since: None,
            published: 0,
            checkpoints: 0,
            missing: LeafRanges::default(),
            missing_payloads: LeafRanges::default(),
            pruned: LeafRanges::default(),
            erased: LeafRanges::default(),
        };
        this.check_reference()?;
        Ok(this)
    }

    /// Creates a verifier for a log without payloads.
    pub fn without_payloads(expect: Expectations) -> Result<Self, LogProblem> {
        Ok(Self { payloads: false, ..Self::new(expect)? })
    }

    /// Returns the number of leaves checked so far.
    pub fn size(&self) -> u64 {
        self.tree.size()
    }

    /// Returns the hashes that the last leaf completed, from the leaf upwards.
    pub fn completed_hashes(&self) -> &[Hash] {
        &self.completed
    }

    /// Checks the next leaf.
    pub fn check_leaf<'a>(&mut self, leaf: LeafRef<'a>) -> Result<Option<Envelope<'a>>, LogProblem> {
        let seq = self.tree.size();
        if leaf.seq > seq {
            return Err(Defect::Missing.at_leaf(seq));
        }
        if leaf.seq < seq {
            return Err(Defect::Duplicate.at_leaf(leaf.seq));
        }
        let envelope = leaf.bytes.map(|bytes| self.check_envelope(seq, bytes, &leaf)).transpose()?;
        match &envelope {
            None => self.missing.push(seq),
            Some(envelope) if self.unsigned_since.is_none() => {
                self.unsigned_since = Some(envelope.recorded.clone().into_owned());
            }
            Some(_) => {}
        }
        self.completed.clear();
        self.tree.push(leaf.hash, &mut self.completed);
        self.check_reference()?;
        Ok(envelope)
    }

    fn check_envelope<'a>(
        &mut self,
        seq: u64,
        bytes: &'a [u8],
        leaf: &LeafRef<'_>,
    ) -> Result<Envelope<'a>, LogProblem> {
        if Hash::of_leaf(bytes) != leaf.hash {
            return Err(Defect::HashMismatch.at_leaf(seq));
        }
        let envelope =
            Envelope::parse(bytes).map_err(|error| Defect::InvalidFormat(error.to_string()).at_leaf(seq))?;
        if envelope.v != ENVELOPE_VERSION {
            return Err(Defect::UnknownVersion(envelope.v).at_leaf(seq));
        }
        if envelope.seq != seq {
            return Err(Defect::SeqMismatch(envelope.seq).at_leaf(seq));
        }
        self.chain.accept_leaf(&envelope).map_err(|wrong| wrong.at_leaf(seq))?;
        if self.payloads {
            self.check_payload(seq, &envelope, leaf)?;
        }
        if let (LeafKind::Prune | LeafKind::Erase, Some(from), Some(to)) =
            (envelope.kind, envelope.from, envelope.to)
        {
            let covered = if envelope.kind == LeafKind::Prune { &mut self.pruned } else { &mut self.erased };
            if from > to || to >= seq {
                return Err(Defect::InvalidFormat("names records that do not precede it".into()).at_leaf(seq));
            }
            covered.add(from, to);
        }
        Ok(envelope)
    }

    fn check_payload(
        &mut self,
        seq: u64,
        envelope: &Envelope<'_>,
        leaf: &LeafRef<'_>,
    ) -> Result<(), LogProblem> {
        let (Some(mark), Some(payload)) = (&envelope.payload, &leaf.payload) else {
            return match (&envelope.payload, &leaf.payload) {
                (Some(_), None) => Err(Defect::PayloadMissing.at_leaf(seq)),
                (None, Some(_)) => Err(Defect::UnexpectedPayload.at_leaf(seq)),
                _ => Ok(()),
            };
        };
        match (payload.salt, payload.bytes, mark.stored) {
            (Some(salt), Some(bytes), PayloadStorage::Whole) => {
                let commitment = salt.try_into().ok().map(|salt| Hash::of_payload(salt, bytes));
                let fits = commitment.is_some_and(|commitment| mark.sha256.parse() == Ok(commitment));
                if fits { Ok(()) } else { Err(Defect::PayloadMismatch.at_leaf(seq)) }
            }
            // A payload that was too large to be stored cannot be checked here.
            (Some(salt), None, PayloadStorage::Hash) if salt.len() == 32 => Ok(()),
            (None, None, _) => {
                self.missing_payloads.push(seq);
                Ok(())
            }
            _ => Err(Defect::PayloadMismatch.at_leaf(seq)),
        }
    }

    /// Checks a checkpoint whose size is the number of leaves checked so far.
    pub fn check_checkpoint(&mut self, note: &str) -> Result<(), LogProblem> {
        self.check_signed_note(note)?;
        self.published = self.size();
        self.checkpoints += 1;
        Ok(())
    }

    /// Checks the head. With each commit the writer signs all leaves; the head is the latest of these signatures.
    #[cfg(feature = "store")]
    pub(crate) fn check_head(&mut self, signature: &[u8]) -> Result<(), LogProblem> {
        let Some(key) = self.chain.current() else { return Err(Defect::InvalidStart.in_log()) };
        let here = Checkpoint { origin: key.name().to_owned(), size: self.size(), root: self.tree.root() };
        if !key.is_valid_signature(here.text().as_bytes(), signature) {
            // If a checkpoint matches the leaves, the head itself is wrong.
            return Err(if self.signed == here.size {
                Defect::InvalidCheckpoint(crate::note::NoteError::BadSignature(here.origin))
                    .at_checkpoint(here.size)
            } else {
                Defect::RootMismatch.in_leaves(self.signed, here.size)
            });
        }
        (self.signed, self.unsigned_since) = (here.size, None);
        Ok(())
    }

    /// Checks a signed note whose size is the number of leaves checked so far.
    pub(crate) fn check_signed_note(&mut self, note: &str) -> Result<(), LogProblem> {
        let (checkpoint, signed) = Checkpoint::parse(note)
            .map_err(|error| Defect::InvalidCheckpoint(error).at_checkpoint(self.size()))?;
        if checkpoint.size > self.size() {
            return Err(Defect::MissingSignedRecords { signed: checkpoint.size, here: self.size() }
                .at_leaf(self.size()));
        }
        if checkpoint.size < self.size() {
            return Err(Defect::OutOfOrder(checkpoint.size).at_checkpoint(self.size()));
        }
        if self.chain.origin() != Some(checkpoint.origin.as_str()) {
            return Err(Defect::OtherLog(checkpoint.origin).at_checkpoint(checkpoint.size));
        }
        let key = self.chain.current().into_iter().collect::<Vec<_>>();
        signed
            .check(&key)
            .map_err(|error| Defect::InvalidCheckpoint(error).at_checkpoint(checkpoint.size))?;
        if checkpoint.root != self.tree.root() {
            return Err(Defect::RootMismatch.in_leaves(self.signed, checkpoint.size));
        }
        (self.signed, self.unsigned_since) = (checkpoint.size, None);
        Ok(())
    }

    /// Compares the log with the reference checkpoint when its size is reached.
    fn check_reference(&mut self) -> Result<(), LogProblem> {
        let Some(since) = self.since.as_ref().filter(|since| since.size == self.tree.size()) else {
            return Ok(());
        };
        if since.root != self.tree.root() {
            return Err(Defect::DoesNotExtend { size: since.size }.in_log());
        }
        if let Some(note) = &self.expect.since
            && since.size > 0
        {
            let (_, note) =
                Checkpoint::parse(note).map_err(|error| Defect::InvalidReference(error).in_log())?;
            note.check(&self.chain.keys()).map_err(|error| Defect::InvalidReference(error).in_log())?;
        }
        self.since = None;
        Ok(())
    }

    /// Ends the verification. All missing content must be covered by a `prune` or `erase` leaf.
    pub fn finish(self) -> Result<VerifiedLog, LogProblem> {
        let size = self.tree.size();
        if let Some(since) = &self.since {
            return Err(Defect::RolledBack { here: size, held: since.size }.in_log());
        }
        if let Some(seq) = self.missing.first_outside(&self.pruned) {
            return Err(Defect::Missing.at_leaf(seq));
        }
        let mut allowed = self.pruned;
        allowed.extend(&self.erased);
        if let Some(seq) = self.missing_payloads.first_outside(&allowed) {
            return Err(Defect::PayloadRemoved.at_leaf(seq));
        }
        let Some(origin) = self.chain.origin().map(ToOwned::to_owned) else {
            return Err(Defect::Empty.in_log());
        };
        if let Some(key) = &self.expect.key
            && !self.chain.keys().contains(&key)
        {
            let name_and_id = |key: &VerifierKey| format!("{}+{}", key.name(), key.id());
            let keys = self.chain.keys().into_iter().map(name_and_id).collect();
            return Err(Defect::UnknownKey { given: name_and_id(key), keys }.in_log());
        }
        if self.signed == 0 {
            return Err(Defect::Unsigned.in_log());
        }
        if size > self.signed {
            let wrong = Defect::UnsignedEnd { leaves: size - self.signed, since: self.unsigned_since };
            return Err(wrong.in_leaves(self.signed, size));
        }
        Ok(VerifiedLog {
            origin,
            size,
            root: self.tree.root(),
            unpublished: size - self.published,
            pruned: self.missing.count(),
            erased: self.missing_payloads.count(),
            checkpoints: self.checkpoints,
            on_first_use: self.expect.key.is_none(),
            payloads: self.payloads,
            keys: self.chain.into_keys(),
        })
    }
}
