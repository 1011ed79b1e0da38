// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Proofs that a record is in the ledger.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_guard::LedgerHandle;
use tenterhook_home::Home;
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::proof::ProofError;
use tenterhook_ledger::{LeafProof, VerifierKey};

use super::{parse_public_key, read_error, show, write_output};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN, tame};
use tenterhook_records::recorded::JsonField as _;

const EXAMPLES: &str = "\
The proof is a self-contained text (c2sp.org/tlog-proof@v1): the record, its path in the tree and a signed \
checkpoint. It can be verified with the public key, without the ledger.

Examples:
  tenterhook ledger proof 17 --output leaf-17.proof
  tenterhook ledger verify-proof leaf-17.proof --key key.pub";

/// Prove that one record is in the ledger
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ProveArgs {
    /// Record: its number, the id of its event or a part of it, or `last`
    #[arg(value_name = "RECORD")]
    leaf: String,
    /// File to write the proof to
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const VERIFY_EXAMPLES: &str = "\
A report of `tenterhook ledger report` carries its proofs and can be given as it is; what is printed comes \
from the proofs, so compare it with what the report shows.

Exit codes:
  0  every proof holds
  1  a proof does not hold
  2  there is no proof in the file, or no key

Examples:
  tenterhook ledger verify-proof leaf-17.proof
  tenterhook ledger verify-proof week.html --key key.pub";

/// Verify the proof of a record, or all proofs in a report
#[derive(Debug, clap::Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(super) struct VerifyProofArgs {
    /// Proof, or report with proofs
    file: PathBuf,
    /// Public key of the log, or a file with it [default: the key of this ledger]
    #[arg(long, value_name = "PUBLIC")]
    key: Option<String>,
}

const PROOF_HEADER: &str = "c2sp.org/tlog-proof@v1\n";

pub(super) fn prove(context: &Context, args: &ProveArgs) -> Result<ExitCode, CommandError> {
    let reader = LedgerHandle::of(context.home()?).reader()?;
    let record = show::find_record(&reader, &args.leaf)?;
    let seq = record.seq;
    let proof = reader.proof(seq).map_err(read_error)?.ok_or_else(|| match record.bytes {
        None => CommandError::user(format!("record {seq} was pruned, so it cannot be proved")),
        Some(_) => CommandError::internal(format!("record {seq} is not in a checkpoint yet"))
            .hint("`tenterhook ledger checkpoint` signs all records"),
    })?;
    write_output(context, &proof.to_string(), args.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn verify(context: &Context, args: &VerifyProofArgs) -> Result<ExitCode, CommandError> {
    let text = fs_err::read_to_string(&args.file).map_err(|error| CommandError::user(error.to_string()))?;
    let key = match &args.key {
        Some(key) => parse_public_key(key)?,
        None => own_key(context.home()?)?,
    };
    let proofs: Vec<_> = text
        .split(PROOF_HEADER)
        .skip(1)
        .map(|rest| rest.split("</pre>").next().unwrap_or_default())
        .collect();
    if proofs.is_empty() {
        return Err(CommandError::user(format!("no proof found in `{}`", args.file.display()))
            .hint("a proof begins with `c2sp.org/tlog-proof@v1`"));
    }
    let checked: Vec<_> =
        proofs.iter().map(|proof| check_proof(&format!("{PROOF_HEADER}{proof}"), &key)).collect();
    let verified = checked.iter().all(Result::is_ok);
    if context.terminal.json {
        let proofs: Vec<_> = checked
            .iter()
            .map(|checked| match checked {
                Ok((leaf, tree)) => json!({"holds": true, "leaf": leaf, "size": tree.size}),
                Err(why) => json!({"holds": false, "problem": why.to_string()}),
            })
            .collect();
        let key = key.to_string();
        context.terminal.print_json(&json!({"verified": verified, "key": key, "proofs": proofs}))?;
    } else {
        let mut text = String::new();
        for checked in &checked {
            let _ = match checked {
                Ok((leaf, tree)) => writeln!(text, "{GOOD}✓{GOOD:#} {}", proof_line(leaf, tree.size)),
                Err(why) => writeln!(text, "{BAD}✗ {}{BAD:#}", tame(&why.to_string())),
            };
        }
        let _ = writeln!(text, "  {DIM}key{DIM:#} {key}");
        if args.key.is_none() {
            let _ = writeln!(
                text,
                "{WARN}note{WARN:#}: checked with the key of this ledger; use `--key` for another one"
            );
        }
        context.terminal.print(&text)?;
    }
    Ok(if verified { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Why a proof does not hold.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidProof(String);

/// Checks a proof. Returns the proved record and the signed tree that contains it.
pub fn check_proof(text: &str, key: &VerifierKey) -> Result<(Value, Checkpoint), InvalidProof> {
    let proof: LeafProof = text.parse().map_err(|error: ProofError| InvalidProof(error.to_string()))?;
    let refused = |why: &dyn std::fmt::Display| InvalidProof(format!("record {}: {why}", proof.seq));
    let tree = proof.check(&[key]).map_err(|error| refused(&error))?;
    let leaf: Value = serde_json::from_slice(&proof.leaf).map_err(|error| refused(&error))?;
    if leaf.field("seq").as_u64() == Some(proof.seq) {
        Ok((leaf, tree))
    } else {
        Err(refused(&"the record in the proof has another number"))
    }
}

fn proof_line(leaf: &Value, size: u64) -> String {
    let word = |value: &Value| tame(value.as_str().unwrap_or_default());
    let what = match leaf.field("kind").as_str() {
        Some("decision") => leaf.field("tool").field("name"),
        Some("change") => leaf.field("what"),
        _ => leaf.field("kind"),
    };
    let parts =
        [leaf.field("ts"), what, leaf.field("verdict"), leaf.field("policy_rule_id"), leaf.field("reason")];
    let parts: Vec<_> = parts.into_iter().map(word).filter(|word| !word.is_empty()).collect();
    format!("{BOLD}record {}{BOLD:#} of {size}: {}", leaf.field("seq"), parts.join(" "))
}

/// Reads the public key of the ledger in a state directory.
pub fn own_key(home: &Home) -> Result<VerifierKey, CommandError> {
    let path = home.ledger().join("key.pub");
    let text = tenterhook_home::state_file(&path).ok().flatten().ok_or_else(|| {
        CommandError::user("no public key found").hint("use `--key PUBLIC` or `--key FILE`")
    })?;
    parse_public_key(text.trim())
}
