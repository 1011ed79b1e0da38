// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Short names of cmdlets, and names of commands without directory and extension.

/// Short names of cmdlets.
const ALIASES: &[(&str, &str)] = &[
    ("%", "foreach-object"),
    ("?", "where-object"),
    ("ac", "add-content"),
    ("cat", "get-content"),
    ("cd", "set-location"),
    ("chdir", "set-location"),
    ("clc", "clear-content"),
    ("cli", "clear-item"),
    ("clp", "clear-itemproperty"),
    ("copy", "copy-item"),
    ("cp", "copy-item"),
    ("cpi", "copy-item"),
    ("curl", "invoke-webrequest"),
    ("del", "remove-item"),
    ("diff", "compare-object"),
    ("dir", "get-childitem"),
    ("echo", "write-output"),
    ("erase", "remove-item"),
    ("fl", "format-list"),
    ("foreach", "foreach-object"),
    ("ft", "format-table"),
    ("gc", "get-content"),
    ("gci", "get-childitem"),
    ("gcm", "get-command"),
    ("gi", "get-item"),
    ("gl", "get-location"),
    ("gp", "get-itemproperty"),
    ("gps", "get-process"),
    ("gpv", "get-itempropertyvalue"),
    ("gsv", "get-service"),
    ("gwmi", "get-wmiobject"),
    ("icm", "invoke-command"),
    ("iex", "invoke-expression"),
    ("ii", "invoke-item"),
    ("ipmo", "import-module"),
    ("irm", "invoke-restmethod"),
    ("iwmi", "invoke-wmimethod"),
    ("iwr", "invoke-webrequest"),
    ("kill", "stop-process"),
    ("ls", "get-childitem"),
    ("md", "new-item"),
    ("measure", "measure-object"),
    ("mi", "move-item"),
    ("mkdir", "new-item"),
    ("move", "move-item"),
    ("mp", "move-itemproperty"),
    ("mv", "move-item"),
    ("nal", "new-alias"),
    ("ni", "new-item"),
    ("nv", "new-variable"),
    ("ogv", "out-gridview"),
    ("oh", "out-host"),
    ("popd", "pop-location"),
    ("ps", "get-process"),
    ("pushd", "push-location"),
    ("pwd", "get-location"),
    ("rd", "remove-item"),
    ("ren", "rename-item"),
    ("ri", "remove-item"),
    ("rm", "remove-item"),
    ("rmdir", "remove-item"),
    ("rni", "rename-item"),
    ("rnp", "rename-itemproperty"),
    ("rp", "remove-itemproperty"),
    ("rv", "remove-variable"),
    ("rvpa", "resolve-path"),
    ("sajb", "start-job"),
    ("sal", "set-alias"),
    ("saps", "start-process"),
    ("sasv", "start-service"),
    ("sc", "set-content"),
    ("select", "select-object"),
    ("set", "set-variable"),
    ("si", "set-item"),
    ("sl", "set-location"),
    ("sleep", "start-sleep"),
    ("sls", "select-string"),
    ("sort", "sort-object"),
    ("sp", "set-itemproperty"),
    ("spjb", "stop-job"),
    ("spps", "stop-process"),
    ("spsv", "stop-service"),
    ("start", "start-process"),
    ("sv", "set-variable"),
    ("tee", "tee-object"),
    ("type", "get-content"),
    ("wget", "invoke-webrequest"),
    ("where", "where-object"),
    ("write", "write-output"),
];

/// Short names that are also programs on other systems. The options show whether the cmdlet or the program is meant.
const PROGRAM_NAMES: &[&str] = &[
    "cat", "cp", "curl", "diff", "dir", "echo", "kill", "ls", "md", "mkdir", "mv", "ps", "rd", "rm", "rmdir",
    "sc", "set", "sleep", "sort", "start", "tee", "type", "wget", "where", "del", "copy", "move", "ren",
    "erase",
];

/// Extensions of programs that may be left out.
const PROGRAM_EXTENSIONS: &[&str] = &[".exe", ".cmd", ".bat", ".com"];

/// Returns the cmdlet for a short name.
pub fn find_cmdlet(name: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, cmdlet)| *cmdlet)
}

/// Whether a short name is also the name of a program.
pub fn is_program_name(name: &str) -> bool {
    PROGRAM_NAMES.contains(&name)
}

/// Returns the name of a command in lower case, without directory, module and extension.
pub fn fold_command_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name).to_lowercase();
    let extension = PROGRAM_EXTENSIONS.iter().find(|extension| last.ends_with(**extension));
    match extension.and_then(|extension| last.strip_suffix(*extension)) {
        Some(stem) if !stem.is_empty() => stem.to_owned(),
        _ => last,
    }
}
