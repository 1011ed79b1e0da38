// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compares the database with the ledgers of the machines.

use std::time::Duration;

use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::{Envelope, LeafKind};

use crate::cluster::Cluster;
use crate::cluster_machine::ClusterMachine;
use crate::error::ClusterError;
use crate::postgres_node::TextRow;
use crate::wait_for;

/// Number of records that are read at a time.
const READ_RECORDS: u64 = 1024;

/// What a ledger and the database agree on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineEvidence {
    /// Id of the machine.
    pub machine: String,
    /// Number of records.
    pub size: u64,
    /// Root of their tree.
    pub root: String,
    /// Number of decisions.
    pub decisions: u64,
}

/// Waits until the database has everything that a machine's ledger has, and compares both: the size and root of the
/// ledger's signed head, the batches one after another without a gap, the number of decisions, and that no alert was
/// raised.
pub fn check_evidence(
    cluster: &Cluster,
    machine: &ClusterMachine,
    limit: Duration,
) -> Result<MachineEvidence, ClusterError> {
    let id = machine.id.clone().unwrap_or_default();
    let what = format!("all records of {} are in the database", machine.name());
    let head = wait_for(&what, limit, || {
        let head = machine.signed_head()?;
        let sql = format!("select cursor, witnessed_size from machines where id = '{id}'");
        // While the database is down, the query fails.
        let rows = cluster.query(&sql).unwrap_or_default();
        std::thread::sleep(Duration::from_millis(200));
        Ok((number(&rows, 0) == Some(head.size) && number(&rows, 1) == Some(head.size)).then_some(head))
    })?;
    compare(cluster, machine, &id, &head)
}

fn number(rows: &[TextRow], column: usize) -> Option<u64> {
    rows.first()?.get(column)?.as_deref()?.parse().ok()
}

fn text(rows: &[TextRow], column: usize) -> Option<&str> {
    rows.first()?.get(column)?.as_deref()
}

fn compare(
    cluster: &Cluster,
    machine: &ClusterMachine,
    id: &str,
    head: &Checkpoint,
) -> Result<MachineEvidence, ClusterError> {
    let differs = |why: String| ClusterError::Evidence { machine: format!("{} ({id})", machine.name()), why };
    let (size, root) = (head.size, head.root.to_string());
    let rows = cluster.query(&format!(
        "select encode(b.root, 'base64'), encode(m.witnessed_root, 'base64') \
         from batches b join machines m on m.id = b.machine where b.machine = '{id}' and b.end_record = {size}"
    ))?;
    for (column, what) in [(0, "stored"), (1, "witnessed")] {
        if text(&rows, column) != Some(&root) {
            return Err(differs(format!(
                "{what} root {:?}, the ledger's head has {root}",
                text(&rows, column)
            )));
        }
    }
    let rows = cluster.query(&format!(
        "select sum(end_record - first_record), min(first_record), max(end_record) from batches where machine = '{id}'"
    ))?;
    let stored = [0, 1, 2].map(|column| number(&rows, column));
    if stored != [Some(size), Some(0), Some(size)] {
        return Err(differs(format!("batches have {stored:?} records, the ledger {size}")));
    }
    let decisions = count_decisions(machine, size)?;
    let rows = cluster
        .query(&format!("select coalesce(sum(calls), 0) from hourly_counts where machine = '{id}'"))?;
    if number(&rows, 0) != Some(decisions) {
        return Err(differs(format!(
            "{:?} decisions were counted, the ledger has {decisions}",
            number(&rows, 0)
        )));
    }
    let rows = cluster.query(&format!("select kind, detail from alerts where machine = '{id}'"))?;
    if let Some(alert) = rows.first() {
        return Err(differs(format!("an alert was raised: {alert:?}")));
    }
    Ok(MachineEvidence { machine: id.to_owned(), size, root, decisions })
}

/// Counts the decisions among the first records of a ledger.
fn count_decisions(machine: &ClusterMachine, size: u64) -> Result<u64, ClusterError> {
    let reader = machine.ledger()?;
    let invalid = |error: &dyn std::fmt::Display| ClusterError::Ledger(error.to_string());
    let (mut from, mut decisions) = (0, 0);
    while from < size {
        let records =
            reader.records_from(from, READ_RECORDS.min(size - from)).map_err(|error| invalid(&error))?;
        if records.is_empty() {
            break;
        }
        for record in &records {
            let kind =
                record.bytes.as_deref().and_then(|bytes| Envelope::parse(bytes).ok()).map(|leaf| leaf.kind);
            decisions += u64::from(kind == Some(LeafKind::Decision));
        }
        from += u64::try_from(records.len()).unwrap_or(READ_RECORDS);
    }
    Ok(decisions)
}
