// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls that open files: what the mode says about them.

use tenterhook_paths::Does;

use super::args::Args;
use super::call_effects::is_input;
use super::network::address;
use super::process_start::flatten;
use super::reader::Reader;
use super::value::{From, Kind, Value};

impl Reader {
    /// A file, opened as its mode says; or a command behind `|`.
    pub(super) fn open_or_pipe(
        &mut self,
        args: &Args,
        path: usize,
        mode: usize,
        content: &mut Option<Value>,
    ) {
        let place = args.get(path);
        match place.shape.strip_prefix('|').filter(|_| place.is_text()) {
            Some(command) => self.shell_text(&Value { shape: command.to_owned(), ..place.clone() }),
            None => self.open(args, path, mode, content),
        }
    }

    /// A file, opened as its mode says.
    pub(super) fn open(&mut self, args: &Args, path: usize, mode: usize, content: &mut Option<Value>) {
        let place = args.at_or(path, &["file", "path", "name"]);
        if let Some(url) = address(&place) {
            self.connect(&url);
            *content = Some(Value::from(From::Network));
            return;
        }
        if is_input(&place) {
            *content = Some(Value::from(From::Input));
            return;
        }
        let mode = args
            .items
            .get(mode)
            .filter(|mode| mode.kind != Kind::Map)
            .cloned()
            .or_else(|| args.option("mode").or_else(|| args.option("flags")).cloned());
        for does in modes(mode.as_ref(), args) {
            self.touch(*does, &place, false);
        }
    }

    /// `open(F, ">x")`, `open(F, ">", "x")`, `open(F, "-|", "ls")`, `open(F, "ls|")`
    pub(super) fn open_handle(&mut self, args: &Args, content: &mut Option<Value>) {
        let mode = args.get(1);
        let Some(place) = args.items.get(2) else {
            let text = mode.shape.trim();
            let rest = |text: &str| Value { shape: text.trim().to_owned(), ..mode.clone() };
            if !mode.is_text() {
                return self.touch(Does::Read, &mode, false);
            }
            if text.contains(">&") || text.contains("<&") {
                self.shell = true;
                return;
            }
            return if let Some(command) = text.strip_prefix('|').or_else(|| text.strip_suffix('|')) {
                self.shell_text(&rest(command));
            } else if let Some(path) = text.strip_prefix(">>") {
                self.touch(Does::Append, &rest(path), false);
            } else if let Some(path) =
                text.strip_prefix('>').or_else(|| text.strip_prefix("+<")).or_else(|| text.strip_prefix("+>"))
            {
                self.touch(Does::Write, &rest(path), false);
            } else {
                let path = rest(text.trim_start_matches('<'));
                self.touch(Does::Read, &path, false);
                *content = Some(Value { items: vec![path], ..Value::from(From::File) });
            };
        };
        let how = mode.shape.split(':').next().unwrap_or_default().trim();
        match how {
            "|-" | "-|" if args.items.len() > 3 => {
                let words = flatten(args.items.get(2..).unwrap_or_default());
                self.start(&words);
            }
            "|-" | "-|" => self.shell_text(place),
            ">>" | "+>>" => self.touch(Does::Append, place, false),
            ">" | "+<" | "+>" => self.touch(Does::Write, place, false),
            how if how.contains('&') => self.shell = true,
            _ => {
                self.touch(Does::Read, place, false);
                *content = Some(Value { items: vec![place.clone()], ..Value::from(From::File) });
            }
        }
        // What is read through the handle came from the file.
        if let (Some(name), Some(value)) =
            (args.items.first().filter(|handle| handle.kind == Kind::Name), content.as_ref())
        {
            self.set(&name.shape.clone(), value.clone());
        }
    }
}

/// What a mode lets be done.
fn modes(mode: Option<&Value>, args: &Args) -> &'static [Does] {
    if args.is_on("write") || args.is_on("create") {
        return &[Does::Write];
    }
    if args.is_on("append") {
        return &[Does::Append];
    }
    let Some(mode) = mode else { return &[Does::Read] };
    let text = mode.shape.as_str();
    match mode.kind {
        Kind::Text if mode.known => {
            if text.contains('a') {
                &[Does::Append]
            } else if text.contains("r+") {
                &[Does::Read, Does::Write]
            } else if text.contains(['w', 'x', '+', 'c']) {
                &[Does::Write]
            } else {
                &[Does::Read]
            }
        }
        Kind::Name if text.ends_with("RDONLY") => &[Does::Read],
        Kind::Number if text == "0" => &[Does::Read],
        _ => &[Does::Read, Does::Write],
    }
}
