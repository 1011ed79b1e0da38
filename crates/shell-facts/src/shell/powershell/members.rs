// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates properties and methods of .NET objects. A method with effects is analysed as the equivalent cmdlet.

use tenterhook_powershell::{MemberAccess, decode_base64, decode_utf16};

use super::super::ShellReader;
use super::super::scope::ShellScope;
use super::known_values::folder_path;
use super::run_cmdlet::CmdletArguments;
use super::value::{PowerShellScope, PowerShellValue};

/// A method and the equivalent cmdlet.
struct MethodRow {
    /// Type without `System.`, in lower case; empty for methods of objects of any type.
    of: &'static str,
    methods: &'static [&'static str],
    cmdlet: &'static str,
    /// Parameters of the cmdlet that receive the arguments of the method, in order.
    parameters: &'static [&'static str],
}

const fn row(
    of: &'static str,
    methods: &'static [&'static str],
    cmdlet: &'static str,
    parameters: &'static [&'static str],
) -> MethodRow {
    MethodRow { of, methods, cmdlet, parameters }
}

const METHODS: &[MethodRow] = &[
    row("io.file", &["delete"], "remove-item", &["-LiteralPath"]),
    row("io.directory", &["delete"], "remove-item", &["-LiteralPath", "-Recurse"]),
    row(
        "io.file",
        &["readalltext", "readalllines", "readallbytes", "readlines", "openread", "opentext"],
        "get-content",
        &["-LiteralPath"],
    ),
    row(
        "io.file",
        &["writealltext", "writealllines", "writeallbytes", "create", "createtext", "openwrite"],
        "set-content",
        &["-LiteralPath", "-Value"],
    ),
    row(
        "io.file",
        &["appendalltext", "appendalllines", "appendtext"],
        "add-content",
        &["-LiteralPath", "-Value"],
    ),
    row("io.file", &["copy"], "copy-item", &["-LiteralPath", "-Destination"]),
    row("io.file", &["move", "replace"], "move-item", &["-LiteralPath", "-Destination"]),
    row("io.directory", &["move"], "move-item", &["-LiteralPath", "-Destination"]),
    row("diagnostics.process", &["start"], "start-process", &["-FilePath", "-ArgumentList"]),
    row(
        "io.compression.zipfile",
        &["createfromdirectory"],
        "compress-archive",
        &["-LiteralPath", "-DestinationPath"],
    ),
    row(
        "io.compression.zipfile",
        &["extracttodirectory"],
        "expand-archive",
        &["-LiteralPath", "-DestinationPath"],
    ),
    row(
        "",
        &["downloadstring", "downloaddata", "getstringasync", "getbytearrayasync", "getasync", "openread"],
        "invoke-webrequest",
        &["-Uri"],
    ),
    row(
        "",
        &["downloadfile", "downloadfileasync", "downloadfiletaskasync"],
        "invoke-webrequest",
        &["-Uri", "-OutFile"],
    ),
    row("", &["uploadfile", "uploadfileasync"], "invoke-webrequest", &["-Uri", "-InFile", "-InFile"]),
    row(
        "",
        &["uploadstring", "uploaddata", "uploadvalues", "postasync"],
        "invoke-webrequest",
        &["-Uri", "-Body", "-Body"],
    ),
    row("", &["invokescript"], "invoke-expression", &["-Command"]),
    row("", &["shellexecute"], "start-process", &["-FilePath", "-ArgumentList"]),
];

impl ShellReader<'_> {
    pub(super) fn evaluate_member(
        &mut self,
        member: &MemberAccess,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        let target = self.evaluate_powershell(&member.target, ps, scope);
        let name = self.evaluate_powershell(&member.name, ps, scope).join("").text.to_lowercase();
        let Some(arguments) = &member.arguments else {
            return read_property(&target, &name);
        };
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.evaluate_powershell(argument, ps, scope));
        }
        for block in values.iter().filter_map(|value| value.block.clone()) {
            // `.ForEach({ … })` and `.Where({ … })`
            let outer = ps.vars.insert("_".to_owned(), target.clone());
            self.walk_powershell(&block, ps, scope);
            restore_variable(ps, "_", outer);
        }
        self.call_method(&target, &name, &values, ps, scope)
    }

    fn call_method(
        &mut self,
        target: &PowerShellValue,
        name: &str,
        values: &[PowerShellValue],
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        let first = values.first().and_then(PowerShellValue::known_text);
        let text = match (target.object.as_str(), name) {
            ("convert", "frombase64string") => first.and_then(decode_to_letters),
            ("environment", "getfolderpath") => first.and_then(|folder| folder_path(folder, scope)),
            ("io.path", "gettemppath" | "gettempfilename") => Some("/tmp/x".to_owned()),
            ("guid", "newguid") | ("io.path", "getrandomfilename") => Some("unique".to_owned()),
            ("io.path", "combine" | "join") => {
                let parts: Option<Vec<&str>> = values.iter().map(PowerShellValue::known_text).collect();
                parts.map(|parts| parts.join("/"))
            }
            ("io.path", "getfullpath") => first.map(str::to_owned),
            (object, "getstring") if object.starts_with("text.encoding") => {
                first.map(|letters| decode_letters(letters, object))
            }
            ("", "replace") => match values {
                [from, to] => match (target.known_text(), from.known_text(), to.known_text()) {
                    (Some(text), Some(from), Some(to)) if !from.is_empty() => Some(text.replace(from, to)),
                    _ => None,
                },
                _ => None,
            },
            (
                "",
                "tostring" | "trim" | "trimend" | "trimstart" | "tolower" | "normalize" | "getnewclosure",
            ) => {
                return target.clone();
            }
            _ => None,
        };
        if let Some(text) = text {
            return PowerShellValue::literal(&text);
        }
        match (target.object.as_str(), name) {
            ("scriptblock", "create") => {
                return values.first().map(|value| self.block_from_text(value)).unwrap_or_default();
            }
            (_, "newscriptblock") => {
                return values.first().map(|value| self.block_from_text(value)).unwrap_or_default();
            }
            (_, "invoke" | "invokereturnasis" | "invokewithcontext") => {
                if let Some(block) = target.block.clone() {
                    return self.walk_powershell(&block, ps, scope);
                }
            }
            ("wscript.shell", "run" | "exec") => {
                return self.run_launched_text(values, ps, scope);
            }
            (_, "delete") if target.object.is_empty() && !target.items.is_empty() => {
                let recursive = first == Some("True");
                let mut arguments = CmdletArguments::default();
                arguments.push_value("-LiteralPath", target);
                if recursive {
                    arguments.push_switch("-Recurse");
                }
                return self.run_cmdlet("remove-item", &arguments, &PowerShellValue::default(), ps, scope);
            }
            (_, "new") => {
                let mut arguments = CmdletArguments::default();
                arguments.push_value("-TypeName", &PowerShellValue::literal(&target.object));
                return self.run_cmdlet("new-object", &arguments, &PowerShellValue::default(), ps, scope);
            }
            _ => {}
        }
        let row = METHODS.iter().find(|row| {
            let fits = if row.of.is_empty() { !is_static_of_listed(target) } else { row.of == target.object };
            fits && row.methods.contains(&name)
        });
        let Some(row) = row else {
            let mut from = target.sources();
            from.extend(sources_of(values));
            return PowerShellValue::unknown("", &from);
        };
        let mut arguments = CmdletArguments::default();
        for (parameter, value) in row.parameters.iter().zip(values) {
            match *parameter {
                "-Recurse" if value.known_text() == Some("True") => arguments.push_switch(parameter),
                "-Recurse" => {}
                _ => arguments.push_value(parameter, value),
            }
        }
        self.run_cmdlet(row.cmdlet, &arguments, &PowerShellValue::default(), ps, scope)
    }

    /// Analyses the command line that an object starts: `$shell.Run('cmd /c …')`.
    fn run_launched_text(
        &mut self,
        values: &[PowerShellValue],
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        let mut arguments = CmdletArguments::default();
        if let Some(value) = values.first() {
            arguments.push_value("-FilePath", value);
        }
        self.run_cmdlet("start-process", &arguments, &PowerShellValue::default(), ps, scope)
    }
}

/// Restores a variable after a block.
pub(super) fn restore_variable(ps: &mut PowerShellScope, name: &str, before: Option<PowerShellValue>) {
    match before {
        Some(value) => _ = ps.vars.insert(name.to_owned(), value),
        None => _ = ps.vars.remove(name),
    }
}

fn is_static_of_listed(target: &PowerShellValue) -> bool {
    METHODS.iter().any(|row| !row.of.is_empty() && row.of == target.object)
}

fn sources_of(values: &[PowerShellValue]) -> Vec<usize> {
    values.iter().flat_map(PowerShellValue::sources).collect()
}

/// Returns a property of a value.
fn read_property(target: &PowerShellValue, name: &str) -> PowerShellValue {
    if let Some((_, value)) = target.entries.iter().find(|(key, _)| key == name) {
        return value.clone();
    }
    // `[Text.Encoding]::Unicode`
    if target.object == "text.encoding" {
        return PowerShellValue { object: format!("text.encoding.{name}"), ..PowerShellValue::default() };
    }
    let is_profile = || target.known_text().is_some_and(|text| text.ends_with("_profile.ps1"));
    match name {
        "fullname" | "path" | "pspath" | "providerpath" | "fullpath" | "value" | "line" => target.clone(),
        _ if is_profile() => target.clone(),
        // The content of a file or reply is unknown, but its origin is known.
        _ => PowerShellValue {
            object: target.object.clone(),
            ..PowerShellValue::unknown("", &target.sources())
        },
    }
}

/// Decodes base64 into a string with one character per byte.
fn decode_to_letters(text: &str) -> Option<String> {
    Some(decode_base64(text)?.into_iter().map(char::from).collect())
}

/// Decodes a string with one character per byte.
fn decode_letters(letters: &str, encoding: &str) -> String {
    let bytes: Vec<u8> =
        letters.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap_or_default()).collect();
    if encoding.ends_with("unicode") {
        decode_utf16(&bytes)
    } else {
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
