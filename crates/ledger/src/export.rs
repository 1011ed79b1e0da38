// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Log exports: JSON lines that can be verified on their own, or CSV.

use std::borrow::Cow;
use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::envelope::Envelope;
use crate::hash::{decode_base64, encode_base64};
use crate::problem::{Defect, LogProblem};
use crate::verify::{Expectations, LeafRef, PayloadRef, VerifiedLog, Verifier};

/// Maximum length of a line in an export.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// One line of an export: the head, a leaf, or a checkpoint.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ExportLine<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ledger: Option<u32>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    origin: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    hash: Option<Cow<'a, str>>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    leaf: Option<&'a RawValue>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    salt: Option<Cow<'a, str>>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    payload: Option<Cow<'a, str>>,
    /// Whether the payload was erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    erased: bool,
    /// Whether the leaf was pruned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pruned: bool,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<Cow<'a, str>>,
}

/// Writes the head of an export.
pub fn write_head(to: &mut dyn Write, origin: &str, size: u64) -> std::io::Result<()> {
    let (origin, size) = (Some(origin.into()), Some(size));
    let head = ExportLine { ledger: Some(1), origin, size, ..ExportLine::default() };
    write_line(to, &head)
}

/// Writes a leaf, with its bytes unchanged.
pub fn write_leaf(to: &mut dyn Write, item: &LeafRef<'_>) -> std::io::Result<()> {
    let text = |bytes: &'_ [u8]| String::from_utf8(bytes.to_vec()).map_err(std::io::Error::other);
    let leaf = item.bytes.map(text).transpose()?.map(RawValue::from_string).transpose()?;
    let payload = item.payload;
    let line = ExportLine {
        seq: Some(item.seq),
        hash: Some(item.hash.to_string().into()),
        pruned: leaf.is_none(),
        leaf: leaf.as_deref(),
        salt: payload.and_then(|payload| payload.salt).map(|salt| encode_base64(salt).into()),
        payload: payload.and_then(|payload| payload.bytes).map(text).transpose()?.map(Cow::Owned),
        erased: payload.is_some_and(|payload| payload.salt.is_none()),
        ..ExportLine::default()
    };
    write_line(to, &line)
}

/// Writes a checkpoint. It must follow the last leaf that it covers.
pub fn write_checkpoint(to: &mut dyn Write, note: &str) -> std::io::Result<()> {
    write_line(to, &ExportLine { checkpoint: Some(note.into()), ..ExportLine::default() })
}

fn write_line(to: &mut dyn Write, line: &ExportLine<'_>) -> std::io::Result<()> {
    serde_json::to_writer(&mut *to, line)?;
    to.write_all(b"\n")
}

/// Verifies an export. `progress` receives the number of checked leaves and the total.
pub fn verify(
    mut from: impl BufRead,
    expect: Expectations,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<VerifiedLog, LogProblem> {
    let mut verifier = Verifier::new(expect)?;
    let (mut text, mut number, mut size) = (String::new(), 0, None);
    loop {
        text.clear();
        number += 1;
        let unreadable = |error: std::io::Error| Defect::Unreadable(error.to_string()).at_line(number);
        let read = std::io::Read::take(&mut from, MAX_LINE_BYTES).read_line(&mut text).map_err(unreadable)?;
        if read == 0 {
            break;
        }
        let form = |error: serde_json::Error| Defect::InvalidFormat(error.to_string()).at_line(number);
        let line: ExportLine<'_> = serde_json::from_str(&text).map_err(form)?;
        if line.ledger.is_some() {
            if number != 1 || line.ledger != Some(1) {
                return Err(Defect::InvalidFormat("the head must be the first line".into()).at_line(number));
            }
            size = line.size;
        } else if let Some(note) = &line.checkpoint {
            verifier.check_checkpoint(note)?;
        } else {
            self::check_leaf(&mut verifier, &line, number)?;
            if verifier.size().is_multiple_of(4096) {
                progress(verifier.size(), size);
            }
        }
    }
    let here = verifier.size();
    progress(here, size);
    let Some(signed) = size else {
        return Err(Defect::InvalidFormat("the export has no head line".into()).at_line(1));
    };
    if signed > here {
        return Err(Defect::MissingSignedRecords { signed, here }.at_leaf(here));
    }
    verifier.finish()
}

fn check_leaf(verifier: &mut Verifier, line: &ExportLine<'_>, number: u64) -> Result<(), LogProblem> {
    let form = |why: &str| Defect::InvalidFormat(why.to_owned()).at_line(number);
    let seq = line.seq.ok_or_else(|| form("`seq` is missing"))?;
    let hash = line.hash.as_ref().and_then(|hash| hash.parse().ok());
    let hash = hash.ok_or_else(|| form("`hash` is missing or invalid"))?;
    if line.pruned == line.leaf.is_some() {
        return Err(Defect::Missing.at_leaf(seq));
    }
    let salt = match &line.salt {
        Some(salt) => Some(decode_base64(salt).ok_or_else(|| Defect::PayloadMismatch.at_leaf(seq))?),
        None => None,
    };
    let present = salt.is_some() || line.payload.is_some() || line.erased;
    let payload =
        PayloadRef { salt: salt.as_deref(), bytes: line.payload.as_ref().map(|text| text.as_bytes()) };
    let bytes = line.leaf.map(|leaf| leaf.get().as_bytes());
    verifier.check_leaf(LeafRef { seq, bytes, hash, payload: present.then_some(payload) })?;
    Ok(())
}

/// Columns of the CSV export.
pub const CSV_COLUMNS: &[&str] = &[
    "seq",
    "id",
    "ts",
    "recorded",
    "kind",
    "origin",
    "source",
    "event",
    "session",
    "tool",
    "verdict",
    "rule",
    "reason",
    "what",
    "who",
    "took_us",
    "generation",
    "signer",
];

/// Writes the header row of the CSV export.
pub fn write_csv_head(to: &mut dyn Write) -> std::io::Result<()> {
    writeln!(to, "{}", CSV_COLUMNS.join(","))
}

/// Writes a leaf as a CSV row.
pub fn write_csv_row(to: &mut dyn Write, leaf: &Envelope<'_>) -> std::io::Result<()> {
    fn text<'a>(value: Option<&'a Cow<'_, str>>) -> Cow<'a, str> {
        Cow::Borrowed(value.map(|text| &**text).unwrap_or_default())
    }
    let cells: [Cow<'_, str>; 18] = [
        leaf.seq.to_string().into(),
        Cow::Borrowed(&leaf.id),
        Cow::Borrowed(&leaf.ts),
        Cow::Borrowed(&leaf.recorded),
        leaf.kind.as_str().into(),
        leaf.origin.as_str().into(),
        text(leaf.source.as_ref()),
        text(leaf.event.as_ref()),
        text(leaf.harness_session_id.as_ref()),
        leaf.tool.as_ref().map_or("".into(), |tool| Cow::Borrowed(&*tool.name)),
        text(leaf.verdict.as_ref()),
        text(leaf.policy_rule_id.as_ref()),
        text(leaf.reason.as_ref()),
        text(leaf.what.as_ref()),
        text(leaf.who.as_ref()),
        leaf.took_us.map(|took| took.to_string()).unwrap_or_default().into(),
        text(leaf.generation.as_ref()),
        Cow::Borrowed(&leaf.signer),
    ];
    let row: Vec<String> = cells.iter().map(|cell| cell_text(cell)).collect();
    writeln!(to, "{}", row.join(","))
}

/// Quotes a cell as in RFC 4180. A cell that looks like a formula gets a leading quote against execution.
fn cell_text(cell: &str) -> String {
    let guard = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    if guard.is_empty() && !cell.contains([',', '"', '\n', '\r']) {
        return cell.to_owned();
    }
    format!("\"{guard}{}\"", cell.replace('"', "\"\""))
}
