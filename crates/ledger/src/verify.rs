// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The verifier. It shares the format with the writer and nothing else: leaves are pushed one by
//! one in order, checkpoints where they were signed, and memory stays flat.

use crate::chain::Chain;
use crate::checkpoint::Checkpoint;
use crate::hash::Hash;
use crate::note::VerifierKey;
use crate::problem::{Problem, Wrong};
use crate::ranges::Ranges;
use crate::record::{Envelope, FORMAT, Kind, Stored};
use crate::tree::Frontier;

/// What the one who verifies brings along.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    /// A key the log must have had. Without one the log's own first key is believed, and the
    /// result says so.
    pub key: Option<VerifierKey>,
    /// A checkpoint from before, which the log must extend.
    pub since: Option<String>,
}

/// One leaf, as it was found.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// The place it was found at.
    pub seq: u64,
    /// Its envelope; absent when it was pruned.
    pub bytes: Option<&'a [u8]>,
    /// The hash that is kept for it.
    pub hash: Hash,
    /// Its payload, if there is a row for one.
    pub payload: Option<PayloadItem<'a>>,
}

/// A payload, as it was found.
#[derive(Debug, Clone, Copy)]
pub struct PayloadItem<'a> {
    /// Absent when it was erased.
    pub salt: Option<&'a [u8]>,
    /// Absent when it was erased, or too large to be stored.
    pub bytes: Option<&'a [u8]>,
}

/// A log that verified, and what was seen on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Which log it is.
    pub origin: String,
    /// How many leaves it has.
    pub size: u64,
    /// The root over all of them.
    pub root: Hash,
    /// How many leaves only the head signs: no checkpoint that went out covers them yet.
    pub unpublished: u64,
    /// How many leaves were pruned; a leaf says so.
    pub pruned: u64,
    /// How many payloads were erased or pruned; a leaf says so.
    pub erased: u64,
    /// How many checkpoints were checked.
    pub checkpoints: u64,
    /// Every key the log had, oldest first.
    pub keys: Vec<VerifierKey>,
    /// No key was given, so the log's own was believed.
    pub on_first_use: bool,
    /// Payloads were there to be checked. Tiles have none.
    pub payloads: bool,
}

/// Checks a log leaf by leaf.
#[derive(Debug)]
pub struct Verifier {
    expect: Expect,
    payloads: bool,
    since: Option<Checkpoint>,
    tree: Frontier,
    chain: Chain,
    completed: Vec<Hash>,
    /// Leaves up to here are covered by a checkpoint or a head that fits.
    signed: u64,
    /// When the first leaf behind them was recorded, and how much it says that itself.
    unsigned_since: Option<String>,
    /// Leaves up to here are covered by a checkpoint that fits.
    published: u64,
    checkpoints: u64,
    gone: Ranges,
    gone_payloads: Ranges,
    pruned: Ranges,
    erased: Ranges,
}

// === impl Verifier ===

impl Verifier {
    /// A verifier of a log that starts with leaf 0.
    pub fn new(expect: Expect) -> Result<Self, Problem> {
        let since = match &expect.since {
            Some(note) => Some(Checkpoint::parse(note).map_err(|error| Wrong::Held(error).here())?.0),
            None => None,
        };
        let mut this = Self {
            expect,
            payloads: true,
            since,
            tree: Frontier::new(),
            chain: Chain::default(),
            completed: Vec::new(),
            signed: 0,
            unsigned_since: None,
            published: 0,
            checkpoints: 0,
            gone: Ranges::default(),
            gone_payloads: Ranges::default(),
            pruned: Ranges::default(),
            erased: Ranges::default(),
        };
        this.held()?;
        Ok(this)
    }

    /// The same for a log that comes without its payloads.
    pub fn without_payloads(expect: Expect) -> Result<Self, Problem> {
        Ok(Self { payloads: false, ..Self::new(expect)? })
    }

    /// How many leaves were checked.
    pub fn size(&self) -> u64 {
        self.tree.size()
    }

    /// The hashes that the last leaf completed, from the leaf upwards.
    pub fn completed(&self) -> &[Hash] {
        &self.completed
    }

    /// Checks the next leaf.
    pub fn leaf<'a>(&mut self, item: Item<'a>) -> Result<Option<Envelope<'a>>, Problem> {
        let seq = self.tree.size();
        if item.seq > seq {
            return Err(Wrong::Missing.at(seq));
        }
        if item.seq < seq {
            return Err(Wrong::Twice.at(item.seq));
        }
        let envelope = item.bytes.map(|bytes| self.envelope(seq, bytes, &item)).transpose()?;
        match &envelope {
            None => self.gone.push(seq),
            Some(envelope) if self.unsigned_since.is_none() => {
                self.unsigned_since = Some(envelope.recorded.clone().into_owned());
            }
            Some(_) => {}
        }
        self.completed.clear();
        self.tree.push(item.hash, &mut self.completed);
        self.held()?;
        Ok(envelope)
    }

    fn envelope<'a>(&mut self, seq: u64, bytes: &'a [u8], item: &Item<'_>) -> Result<Envelope<'a>, Problem> {
        if Hash::of_leaf(bytes) != item.hash {
            return Err(Wrong::Bytes.at(seq));
        }
        let envelope = Envelope::parse(bytes).map_err(|error| Wrong::Form(error.to_string()).at(seq))?;
        if envelope.v != FORMAT {
            return Err(Wrong::Version(envelope.v).at(seq));
        }
        if envelope.seq != seq {
            return Err(Wrong::Seq(envelope.seq).at(seq));
        }
        self.chain.follow(&envelope).map_err(|wrong| wrong.at(seq))?;
        if self.payloads {
            self.payload(seq, &envelope, item)?;
        }
        if let (Kind::Prune | Kind::Erase, Some(from), Some(to)) = (envelope.kind, envelope.from, envelope.to)
        {
            let covered = if envelope.kind == Kind::Prune { &mut self.pruned } else { &mut self.erased };
            if from > to || to >= seq {
                return Err(Wrong::Form("it names leaves that are not before it".into()).at(seq));
            }
            covered.add(from, to);
        }
        Ok(envelope)
    }

    fn payload(&mut self, seq: u64, envelope: &Envelope<'_>, item: &Item<'_>) -> Result<(), Problem> {
        let (Some(mark), Some(payload)) = (&envelope.payload, &item.payload) else {
            return match (&envelope.payload, &item.payload) {
                (Some(_), None) => Err(Wrong::PayloadMissing.at(seq)),
                (None, Some(_)) => Err(Wrong::PayloadUnknown.at(seq)),
                _ => Ok(()),
            };
        };
        match (payload.salt, payload.bytes, mark.stored) {
            (Some(salt), Some(bytes), Stored::Whole) => {
                let commitment = salt.try_into().ok().map(|salt| Hash::of_payload(salt, bytes));
                let fits = commitment.is_some_and(|commitment| mark.sha256.parse() == Ok(commitment));
                if fits { Ok(()) } else { Err(Wrong::Payload.at(seq)) }
            }
            // What is too large to be kept can only be checked by whoever has it.
            (Some(salt), None, Stored::Hash) if salt.len() == 32 => Ok(()),
            (None, None, _) => {
                self.gone_payloads.push(seq);
                Ok(())
            }
            _ => Err(Wrong::Payload.at(seq)),
        }
    }

    /// Checks a checkpoint of the size that was just reached.
    pub fn checkpoint(&mut self, note: &str) -> Result<(), Problem> {
        self.signed_note(note)?;
        self.published = self.size();
        self.checkpoints += 1;
        Ok(())
    }

    /// Checks the head: what the writer signed with its last commit, and did not send out yet. It is the
    /// signature alone; what it signs is what is here.
    #[cfg(feature = "store")]
    pub(crate) fn head(&mut self, signature: &[u8]) -> Result<(), Problem> {
        let Some(key) = self.chain.current() else { return Err(Wrong::Start.here()) };
        let here = Checkpoint { origin: key.name().to_owned(), size: self.size(), root: self.tree.root() };
        if !key.accepts(here.text().as_bytes(), signature) {
            // A checkpoint that fits says that it is not the leaves.
            return Err(if self.signed == here.size {
                Wrong::Checkpoint(crate::note::NoteError::BadSignature(here.origin)).at_size(here.size)
            } else {
                Wrong::Root.between(self.signed, here.size)
            });
        }
        (self.signed, self.unsigned_since) = (here.size, None);
        Ok(())
    }

    /// Checks a signed note of the size that was just reached.
    pub(crate) fn signed_note(&mut self, note: &str) -> Result<(), Problem> {
        let (checkpoint, signed) =
            Checkpoint::parse(note).map_err(|error| Wrong::Checkpoint(error).at_size(self.size()))?;
        if checkpoint.size > self.size() {
            return Err(Wrong::TooFew { signed: checkpoint.size, here: self.size() }.at(self.size()));
        }
        if checkpoint.size < self.size() {
            return Err(Wrong::OutOfOrder(checkpoint.size).at_size(self.size()));
        }
        if self.chain.origin() != Some(checkpoint.origin.as_str()) {
            return Err(Wrong::OtherLog(checkpoint.origin).at_size(checkpoint.size));
        }
        let key = self.chain.current().into_iter().collect::<Vec<_>>();
        signed.check(&key).map_err(|error| Wrong::Checkpoint(error).at_size(checkpoint.size))?;
        if checkpoint.root != self.tree.root() {
            return Err(Wrong::Root.between(self.signed, checkpoint.size));
        }
        (self.signed, self.unsigned_since) = (checkpoint.size, None);
        Ok(())
    }

    /// Compares with the checkpoint that was brought along, when its size is reached.
    fn held(&mut self) -> Result<(), Problem> {
        let Some(since) = self.since.as_ref().filter(|since| since.size == self.tree.size()) else {
            return Ok(());
        };
        if since.root != self.tree.root() {
            return Err(Wrong::DoesNotExtend { size: since.size }.here());
        }
        if let Some(note) = &self.expect.since
            && since.size > 0
        {
            let (_, note) = Checkpoint::parse(note).map_err(|error| Wrong::Held(error).here())?;
            note.check(&self.chain.keys()).map_err(|error| Wrong::Held(error).here())?;
        }
        self.since = None;
        Ok(())
    }

    /// The end of the log: everything that is missing must have been said to be.
    pub fn finish(self) -> Result<Verified, Problem> {
        let size = self.tree.size();
        if let Some(since) = &self.since {
            return Err(Wrong::Older { here: size, held: since.size }.here());
        }
        if let Some(seq) = self.gone.first_outside(&self.pruned) {
            return Err(Wrong::Missing.at(seq));
        }
        let mut allowed = self.pruned;
        allowed.extend(&self.erased);
        if let Some(seq) = self.gone_payloads.first_outside(&allowed) {
            return Err(Wrong::PayloadErased.at(seq));
        }
        let Some(origin) = self.chain.origin().map(ToOwned::to_owned) else {
            return Err(Wrong::Empty.here());
        };
        if let Some(key) = &self.expect.key
            && !self.chain.keys().contains(&key)
        {
            let short = |key: &VerifierKey| format!("{}+{}", key.name(), key.id());
            let keys = self.chain.keys().into_iter().map(short).collect();
            return Err(Wrong::OtherKey { given: short(key), keys }.here());
        }
        if self.signed == 0 {
            return Err(Wrong::Unsigned.here());
        }
        if size > self.signed {
            let wrong = Wrong::UnsignedEnd { leaves: size - self.signed, since: self.unsigned_since };
            return Err(wrong.between(self.signed, size));
        }
        Ok(Verified {
            origin,
            size,
            root: self.tree.root(),
            unpublished: size - self.published,
            pruned: self.gone.count(),
            erased: self.gone_payloads.count(),
            checkpoints: self.checkpoints,
            on_first_use: self.expect.key.is_none(),
            payloads: self.payloads,
            keys: self.chain.into_keys(),
        })
    }
}
