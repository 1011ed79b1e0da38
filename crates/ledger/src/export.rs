// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A log as a file: JSON lines that verify by themselves, or a table for people.

use std::borrow::Cow;
use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::hash::{base64, from_base64};
use crate::problem::{Problem, Wrong};
use crate::record::Envelope;
use crate::verify::{Expect, Item, PayloadItem, Verified, Verifier};

/// No line of an export is longer, in bytes.
const MAX_LINE: u64 = 256 << 20;

/// One line of an export: the head, a leaf, or a checkpoint.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Line<'a> {
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
    /// There was a payload, and it was erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    erased: bool,
    /// There was a leaf, and it was pruned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pruned: bool,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<Cow<'a, str>>,
}

/// Writes the head of an export.
pub fn write_head(to: &mut dyn Write, origin: &str, size: u64) -> std::io::Result<()> {
    let head = Line { ledger: Some(1), origin: Some(origin.into()), size: Some(size), ..Line::default() };
    write(to, &head)
}

/// Writes a leaf, its bytes to the byte.
pub fn write_leaf(to: &mut dyn Write, item: &Item<'_>) -> std::io::Result<()> {
    let text = |bytes: &'_ [u8]| String::from_utf8(bytes.to_vec()).map_err(std::io::Error::other);
    let leaf = item.bytes.map(text).transpose()?.map(RawValue::from_string).transpose()?;
    let payload = item.payload;
    let line = Line {
        seq: Some(item.seq),
        hash: Some(item.hash.to_string().into()),
        pruned: leaf.is_none(),
        leaf: leaf.as_deref(),
        salt: payload.and_then(|payload| payload.salt).map(|salt| base64(salt).into()),
        payload: payload.and_then(|payload| payload.bytes).map(text).transpose()?.map(Cow::Owned),
        erased: payload.is_some_and(|payload| payload.salt.is_none()),
        ..Line::default()
    };
    write(to, &line)
}

/// Writes a checkpoint; it stands right behind the last leaf it covers.
pub fn write_checkpoint(to: &mut dyn Write, note: &str) -> std::io::Result<()> {
    write(to, &Line { checkpoint: Some(note.into()), ..Line::default() })
}

fn write(to: &mut dyn Write, line: &Line<'_>) -> std::io::Result<()> {
    serde_json::to_writer(&mut *to, line)?;
    to.write_all(b"\n")
}

/// Verifies an export. `progress` hears how many leaves were checked, out of how many.
pub fn verify(
    mut from: impl BufRead,
    expect: Expect,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Verified, Problem> {
    let mut verifier = Verifier::new(expect)?;
    let (mut text, mut number, mut size) = (String::new(), 0, None);
    loop {
        text.clear();
        number += 1;
        let unreadable = |error: std::io::Error| Wrong::Unreadable(error.to_string()).at_line(number);
        let read = std::io::Read::take(&mut from, MAX_LINE).read_line(&mut text).map_err(unreadable)?;
        if read == 0 {
            break;
        }
        let form = |error: serde_json::Error| Wrong::Form(error.to_string()).at_line(number);
        let line: Line<'_> = serde_json::from_str(&text).map_err(form)?;
        if line.ledger.is_some() {
            if number != 1 || line.ledger != Some(1) {
                return Err(Wrong::Form("the head of an export stands only in front".into()).at_line(number));
            }
            size = line.size;
        } else if let Some(note) = &line.checkpoint {
            verifier.checkpoint(note)?;
        } else {
            self::leaf(&mut verifier, &line, number)?;
            if verifier.size().is_multiple_of(4096) {
                progress(verifier.size(), size);
            }
        }
    }
    let here = verifier.size();
    progress(here, size);
    let Some(signed) = size else { return Err(Wrong::Form("the export has no head".into()).at_line(1)) };
    if signed > here {
        return Err(Wrong::TooFew { signed, here }.at(here));
    }
    verifier.finish()
}

fn leaf(verifier: &mut Verifier, line: &Line<'_>, number: u64) -> Result<(), Problem> {
    let form = |why: &str| Wrong::Form(why.to_owned()).at_line(number);
    let seq = line.seq.ok_or_else(|| form("it has no seq"))?;
    let hash = line.hash.as_ref().and_then(|hash| hash.parse().ok()).ok_or_else(|| form("it has no hash"))?;
    if line.pruned == line.leaf.is_some() {
        return Err(Wrong::Missing.at(seq));
    }
    let salt = match &line.salt {
        Some(salt) => Some(from_base64(salt).ok_or_else(|| Wrong::Payload.at(seq))?),
        None => None,
    };
    let present = salt.is_some() || line.payload.is_some() || line.erased;
    let payload =
        PayloadItem { salt: salt.as_deref(), bytes: line.payload.as_ref().map(|text| text.as_bytes()) };
    let bytes = line.leaf.map(|leaf| leaf.get().as_bytes());
    verifier.leaf(Item { seq, bytes, hash, payload: present.then_some(payload) })?;
    Ok(())
}

/// The columns of the table for people.
pub const COLUMNS: &[&str] = &[
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

/// Writes the first row of the table.
pub fn write_csv_head(to: &mut dyn Write) -> std::io::Result<()> {
    writeln!(to, "{}", COLUMNS.join(","))
}

/// Writes a leaf as a row of the table.
pub fn write_csv_row(to: &mut dyn Write, leaf: &Envelope<'_>) -> std::io::Result<()> {
    fn text<'a>(value: Option<&'a Cow<'_, str>>) -> Cow<'a, str> {
        Cow::Borrowed(value.map(|text| &**text).unwrap_or_default())
    }
    let cells: [Cow<'_, str>; 18] = [
        leaf.seq.to_string().into(),
        Cow::Borrowed(&leaf.id),
        Cow::Borrowed(&leaf.ts),
        Cow::Borrowed(&leaf.recorded),
        leaf.kind.word().into(),
        leaf.origin.word().into(),
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

/// A cell as RFC 4180 has it. A spreadsheet would run what begins like a formula, so it gets a quote.
fn cell_text(cell: &str) -> String {
    let guard = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    if guard.is_empty() && !cell.contains([',', '"', '\n', '\r']) {
        return cell.to_owned();
    }
    format!("\"{guard}{}\"", cell.replace('"', "\"\""))
}
