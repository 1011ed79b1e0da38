// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The last checkpoint that the fleet's witness cosigned. A ledger that does not contain it was rolled back,
//! restarted or edited.

use tenterhook_fleet_protocol::{CosignError, check_cosigned};
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::note::NoteError;
use tenterhook_ledger::{ReadError, Reader, VerifierKey};

use crate::fleet_dir::{COSIGNED_FILE, FleetDir, FleetStateError};

/// A checkpoint with a valid cosignature of the fleet's witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessedCheckpoint {
    /// The signed note.
    pub note: String,
    /// Content of the note.
    pub checkpoint: Checkpoint,
    /// Time of the cosignature, in Unix seconds.
    pub time: u64,
    /// Name of the witness.
    pub witness: String,
}

/// Error for a ledger that does not match what the witness saw, or that cannot be compared with it.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    /// A file about the fleet cannot be read.
    #[error(transparent)]
    State(#[from] FleetStateError),
    /// The machine is not part of a fleet.
    #[error("this machine is not part of a fleet, so no witness has seen its ledger")]
    NotEnrolled,
    /// The witness has not cosigned a checkpoint yet.
    #[error("the fleet's witness has not cosigned a checkpoint of this ledger yet")]
    NotCosigned,
    /// The witness's key in the enrolment is invalid.
    #[error("the key of the fleet's witness is invalid: {0}")]
    Key(NoteError),
    /// The stored checkpoint is invalid or of another log.
    #[error(transparent)]
    Invalid(#[from] CosignError),
    /// The ledger cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The ledger has another origin.
    #[error("the ledger `{found}` was started again: the witness cosigned `{expected}`")]
    Restarted {
        /// Origin of the ledger.
        found: String,
        /// Origin that the witness cosigned.
        expected: String,
    },
    /// The ledger has fewer records than the witness saw.
    #[error("the witness cosigned {held} records, but the ledger has {here}: the ledger was rolled back")]
    RolledBack {
        /// Number of records in the cosigned checkpoint.
        held: u64,
        /// Number of records in the ledger.
        here: u64,
    },
    /// The first records of the ledger are not those that the witness saw.
    #[error(
        "the first {held} records are not those that the witness cosigned: the ledger was edited or replaced"
    )]
    Edited {
        /// Number of records in the cosigned checkpoint.
        held: u64,
    },
}

impl WitnessError {
    /// Whether the ledger differs from what the witness saw, and not only something cannot be read.
    pub fn is_tampering(&self) -> bool {
        matches!(self, Self::Restarted { .. } | Self::RolledBack { .. } | Self::Edited { .. })
    }
}

impl FleetDir {
    /// Reads the last checkpoint that the witness cosigned, and checks its cosignature; `None` if there is none yet.
    pub fn witnessed_checkpoint(&self) -> Result<Option<WitnessedCheckpoint>, WitnessError> {
        let enrolment = self.enrolment()?.ok_or(WitnessError::NotEnrolled)?;
        let Some(note) = self.read_text(COSIGNED_FILE)? else { return Ok(None) };
        let witness: VerifierKey = enrolment.witness.parse().map_err(WitnessError::Key)?;
        let (checkpoint, time) = check_cosigned(&note, &enrolment.origin, &witness)?;
        Ok(Some(WitnessedCheckpoint { note, checkpoint, time, witness: witness.name().to_owned() }))
    }

    /// Checks a checkpoint that the witness cosigned and stores it, unless a larger one is stored.
    pub fn store_witnessed(&self, note: &str) -> Result<WitnessedCheckpoint, WitnessError> {
        let enrolment = self.enrolment()?.ok_or(WitnessError::NotEnrolled)?;
        let witness: VerifierKey = enrolment.witness.parse().map_err(WitnessError::Key)?;
        let (checkpoint, time) = check_cosigned(note, &enrolment.origin, &witness)?;
        // An invalid file is replaced.
        let held = self.witnessed_checkpoint().ok().flatten();
        if let Some(held) = held.filter(|held| held.checkpoint.size > checkpoint.size) {
            return Ok(held);
        }
        self.write(COSIGNED_FILE, note.as_bytes())?;
        Ok(WitnessedCheckpoint {
            note: note.to_owned(),
            checkpoint,
            time,
            witness: witness.name().to_owned(),
        })
    }

    /// Checks that the ledger contains the last cosigned checkpoint, from the stored hashes of the tree. Whether these
    /// match the records is checked by `ledger verify`.
    pub fn check_witness(&self, reader: &Reader) -> Result<WitnessedCheckpoint, WitnessError> {
        let witnessed = self.witnessed_checkpoint()?.ok_or(WitnessError::NotCosigned)?;
        let Checkpoint { origin, size, root } = &witnessed.checkpoint;
        let here = reader.size()?;
        let found = reader.key()?.map(|key| key.name().to_owned()).unwrap_or_default();
        if found != *origin {
            return Err(WitnessError::Restarted { found, expected: origin.clone() });
        }
        if here < *size {
            return Err(WitnessError::RolledBack { held: *size, here });
        }
        if reader.root(*size)? != *root {
            return Err(WitnessError::Edited { held: *size });
        }
        Ok(witnessed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tenterhook_event::{EventId, Timestamp};
    use tenterhook_fleet_protocol::CosignKey;
    use tenterhook_ledger::{Ledger, LedgerEntry, LedgerOptions, SoftwareKey};

    use super::*;
    use crate::fleet_dir::tests::enrol;

    /// A machine whose witness cosigns what its ledger contains.
    struct TestMachine {
        state: tempfile::TempDir,
        witness: CosignKey,
    }

    impl TestMachine {
        fn new() -> Self {
            let state = tempfile::tempdir().unwrap();
            let witness = CosignKey::from_seed("fleet.example/witness", &[5; 32]).unwrap();
            enrol(&FleetDir::of_state(state.path()), &witness.public().to_string());
            Self { state, witness }
        }

        fn fleet(&self) -> FleetDir {
            FleetDir::of_state(self.state.path())
        }

        /// Appends records to the ledger in a directory, which is created if it is missing.
        fn append(&self, origin: &str, dir: &str, records: u64) -> Reader {
            let dir = self.state.path().join(dir);
            let key = SoftwareKey::from_seed(origin, &[6; 32]).unwrap();
            let options = LedgerOptions { key: Some(Arc::new(key)), ..LedgerOptions::brief(|| 1000) };
            let ledger = Ledger::open(&dir, options).unwrap().ledger;
            let from = Reader::open(&dir).map_or(0, |reader| reader.size().unwrap());
            for number in from..from + records {
                let id = EventId::from_parts(number, u128::from(dir.as_os_str().len() as u64));
                let (time, detail) = (Timestamp::from_unix_ms(1000), json!({ "number": number }));
                ledger.append(LedgerEntry::change(id, time, "test", "dev", detail, &|_| Vec::new())).unwrap();
            }
            ledger.close().unwrap();
            Reader::open(&dir).unwrap()
        }

        /// Cosigns the head of a ledger and stores the note.
        fn cosign(&self, reader: &Reader) -> Result<WitnessedCheckpoint, WitnessError> {
            let (checkpoint, mut note) = Checkpoint::parse(&reader.head().unwrap().unwrap()).unwrap();
            note.signatures.push(self.witness.cosign(&checkpoint, 1000));
            self.fleet().store_witnessed(&note.to_string())
        }
    }

    #[test]
    fn a_ledger_that_grew_contains_what_the_witness_saw() {
        let machine = TestMachine::new();
        let reader = machine.append("host/ledger", "ledger", 5);
        assert!(matches!(machine.fleet().check_witness(&reader), Err(WitnessError::NotCosigned)));
        let held = machine.cosign(&reader).unwrap().checkpoint.size;
        let reader = machine.append("host/ledger", "ledger", 7);
        let witnessed = machine.fleet().check_witness(&reader).unwrap();
        assert_eq!((witnessed.checkpoint.size, witnessed.time), (held, 1000));
        assert!(reader.size().unwrap() > held);
    }

    #[test]
    fn a_smaller_and_a_forged_checkpoint_do_not_replace_the_stored_one() {
        let machine = TestMachine::new();
        let reader = machine.append("host/ledger", "ledger", 5);
        let smaller = reader.head().unwrap().unwrap();
        let reader = machine.append("host/ledger", "ledger", 5);
        let held = machine.cosign(&reader).unwrap();
        let (checkpoint, mut note) = Checkpoint::parse(&smaller).unwrap();
        assert!(machine.fleet().store_witnessed(&smaller).is_err(), "not cosigned");
        note.signatures.push(machine.witness.cosign(&checkpoint, 2000));
        assert_eq!(machine.fleet().store_witnessed(&note.to_string()).unwrap(), held);
        assert_eq!(machine.fleet().witnessed_checkpoint().unwrap(), Some(held));
    }

    #[test]
    fn rolled_back_edited_and_restarted_ledgers_are_named() {
        let machine = TestMachine::new();
        let reader = machine.append("host/ledger", "ledger", 9);
        machine.cosign(&reader).unwrap();
        let check = |reader: &Reader| machine.fleet().check_witness(reader).unwrap_err();
        let shorter = machine.append("host/ledger", "older", 3);
        assert!(matches!(check(&shorter), WitnessError::RolledBack { .. }));
        let other = machine.append("host/ledger", "edited-copy", 20);
        assert!(matches!(check(&other), WitnessError::Edited { .. }));
        let restarted = machine.append("host/other", "restarted", 20);
        assert!(matches!(check(&restarted), WitnessError::Restarted { .. }));
        assert!(machine.fleet().check_witness(&reader).is_ok());
    }
}
