// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::{BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_guard::LedgerHandle;
use tenterhook_ledger::{FileFormat, Reader};

use super::passphrase::open_if_passphrase_known;
use super::{open_covered, read_error};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, GOOD};

const EXAMPLES: &str = "\
Formats:
  jsonl  everything, one JSON object per line, with payloads and checkpoints;
         `verify --file` checks it without the ledger
  csv    a table of the decisions; cannot be verified
  tiles  the tree and the records in the format of c2sp.org/tlog-tiles,
         in a directory; without payloads

Examples:
  tenterhook ledger export --format jsonl --output ledger.jsonl
  tenterhook ledger export --format csv --output - | head
  tenterhook ledger export --format tiles --output tiles/";

/// Export the ledger to a file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Format of the export
    #[arg(long, value_parser = ["jsonl", "csv", "tiles"], default_value = "jsonl")]
    format: String,
    /// File to write, `-` for standard output; for tiles a directory
    #[arg(long, short, value_name = "PATH")]
    output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

pub(super) fn run(context: &Context, args: &Args, file: Option<&Path>) -> Result<ExitCode, CommandError> {
    let book = open_if_passphrase_known(LedgerHandle::of(context.home()?), file)?;
    let reader = open_covered(context, &book, "only records in a checkpoint are exported")?;
    let to_stdout = args.output.as_os_str() == "-";
    if args.output.exists() && !args.force && args.format != "tiles" {
        return Err(CommandError::user(format!("`{}` already exists", args.output.display()))
            .hint("use another name, or overwrite it with `--force`"));
    }
    let records = match args.format.as_str() {
        "tiles" if to_stdout => {
            return Err(CommandError::user("tiles are many files").hint("name a directory: `--output DIR`"));
        }
        "tiles" => {
            fs_err::create_dir_all(&args.output)?;
            reader.export_tiles(&args.output).map_err(|error| CommandError::internal(error.to_string()))?
        }
        "csv" => write_export(&reader, FileFormat::Csv, &args.output, to_stdout)?,
        _ => write_export(&reader, FileFormat::Jsonl, &args.output, to_stdout)?,
    };
    if to_stdout {
        return Ok(ExitCode::SUCCESS);
    }
    if context.terminal.json {
        context
            .terminal
            .print_json(&json!({"leaves": records, "format": args.format, "output": args.output}))?;
    } else {
        let path = args.output.display();
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} {BOLD}{records}{BOLD:#} records in `{path}`\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the export atomically. Only its owner may read it, because it contains payloads.
fn write_export(
    reader: &Reader,
    format: FileFormat,
    path: &Path,
    to_stdout: bool,
) -> Result<u64, CommandError> {
    if to_stdout {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let records = reader.export(format, &mut out).map_err(read_error)?;
        out.flush()?;
        return Ok(records);
    }
    let path = std::path::absolute(path)?;
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new("/")))?;
    let records = {
        let mut out = BufWriter::with_capacity(1 << 20, file.as_file_mut());
        let records = reader.export(format, &mut out).map_err(read_error)?;
        out.flush()?;
        records
    };
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o600))?;
    file.as_file().sync_all()?;
    file.persist(&path)
        .map_err(|error| CommandError::internal(format!("`{}`: {}", path.display(), error.error)))?;
    Ok(records)
}
