// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads calls that open files in a given mode.

use tenterhook_paths::FileOp;

use super::args::CallArgs;
use super::call_effects::is_input;
use super::network::address;
use super::process_start::flatten;
use super::reader::CodeReader;
use super::value::{CodeValue, ValueKind, ValueOrigin};

impl CodeReader {
    /// Reports a call that opens a file in the given mode, or that runs the command after `|`.
    pub(super) fn open_or_pipe(
        &mut self,
        args: &CallArgs,
        path: usize,
        mode: usize,
        content: &mut Option<CodeValue>,
    ) {
        let place = args.get(path);
        match place.shape.strip_prefix('|').filter(|_| place.is_text()) {
            Some(command) => self.run_shell_text(&CodeValue { shape: command.to_owned(), ..place.clone() }),
            None => self.open_file(args, path, mode, content),
        }
    }

    /// Reports a call that opens a file in the given mode.
    pub(super) fn open_file(
        &mut self,
        args: &CallArgs,
        path: usize,
        mode: usize,
        content: &mut Option<CodeValue>,
    ) {
        let place = args.at_or(path, &["file", "path", "name"]);
        if let Some(url) = address(&place) {
            self.add_connection(&url);
            *content = Some(CodeValue::from(ValueOrigin::Network));
            return;
        }
        if is_input(&place) {
            *content = Some(CodeValue::from(ValueOrigin::Input));
            return;
        }
        let mode = args
            .items
            .get(mode)
            .filter(|mode| mode.kind != ValueKind::Map)
            .cloned()
            .or_else(|| args.option("mode").or_else(|| args.option("flags")).cloned());
        for does in modes(mode.as_ref(), args) {
            self.add_file_effect(*does, &place, false);
        }
    }

    /// Reads `open(F, ">x")`, `open(F, ">", "x")`, `open(F, "-|", "ls")` and `open(F, "ls|")`.
    pub(super) fn open_handle(&mut self, args: &CallArgs, content: &mut Option<CodeValue>) {
        let mode = args.get(1);
        let Some(place) = args.items.get(2) else {
            let text = mode.shape.trim();
            let rest = |text: &str| CodeValue { shape: text.trim().to_owned(), ..mode.clone() };
            if !mode.is_text() {
                return self.add_file_effect(FileOp::Read, &mode, false);
            }
            if text.contains(">&") || text.contains("<&") {
                self.shell = true;
                return;
            }
            return if let Some(command) = text.strip_prefix('|').or_else(|| text.strip_suffix('|')) {
                self.run_shell_text(&rest(command));
            } else if let Some(path) = text.strip_prefix(">>") {
                self.add_file_effect(FileOp::Append, &rest(path), false);
            } else if let Some(path) =
                text.strip_prefix('>').or_else(|| text.strip_prefix("+<")).or_else(|| text.strip_prefix("+>"))
            {
                self.add_file_effect(FileOp::Write, &rest(path), false);
            } else {
                let path = rest(text.trim_start_matches('<'));
                self.add_file_effect(FileOp::Read, &path, false);
                *content = Some(CodeValue { items: vec![path], ..CodeValue::from(ValueOrigin::File) });
            };
        };
        let how = mode.shape.split(':').next().unwrap_or_default().trim();
        match how {
            "|-" | "-|" if args.items.len() > 3 => {
                let words = flatten(args.items.get(2..).unwrap_or_default());
                self.start_program(&words);
            }
            "|-" | "-|" => self.run_shell_text(place),
            ">>" | "+>>" => self.add_file_effect(FileOp::Append, place, false),
            ">" | "+<" | "+>" => self.add_file_effect(FileOp::Write, place, false),
            how if how.contains('&') => self.shell = true,
            _ => {
                self.add_file_effect(FileOp::Read, place, false);
                *content =
                    Some(CodeValue { items: vec![place.clone()], ..CodeValue::from(ValueOrigin::File) });
            }
        }
        // Data that is read through the handle comes from the file.
        if let (Some(name), Some(value)) =
            (args.items.first().filter(|handle| handle.kind == ValueKind::Name), content.as_ref())
        {
            self.set_variable(&name.shape.clone(), value.clone());
        }
    }
}

/// Returns the file operations that a mode allows.
fn modes(mode: Option<&CodeValue>, args: &CallArgs) -> &'static [FileOp] {
    if args.is_on("write") || args.is_on("create") {
        return &[FileOp::Write];
    }
    if args.is_on("append") {
        return &[FileOp::Append];
    }
    let Some(mode) = mode else { return &[FileOp::Read] };
    let text = mode.shape.as_str();
    match mode.kind {
        ValueKind::Text if mode.known => {
            if text.contains('a') {
                &[FileOp::Append]
            } else if text.contains("r+") {
                &[FileOp::Read, FileOp::Write]
            } else if text.contains(['w', 'x', '+', 'c']) {
                &[FileOp::Write]
            } else {
                &[FileOp::Read]
            }
        }
        ValueKind::Name if text.ends_with("RDONLY") => &[FileOp::Read],
        ValueKind::Number if text == "0" => &[FileOp::Read],
        _ => &[FileOp::Read, FileOp::Write],
    }
}
