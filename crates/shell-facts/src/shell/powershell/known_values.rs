// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Values that are known before a PowerShell script runs: variables, special folders, and paths on any drive.

use super::super::scope::ShellScope;

/// Variables whose value is a directory below the home directory.
const HOME_VARIABLES: &[(&str, &str)] = &[
    ("home", ""),
    ("env:home", ""),
    ("env:userprofile", ""),
    ("env:homepath", ""),
    ("env:appdata", "/AppData/Roaming"),
    ("env:localappdata", "/AppData/Local"),
    ("env:onedrive", "/OneDrive"),
    ("profile", "/Documents/PowerShell/Microsoft.PowerShell_profile.ps1"),
];
/// Variables whose value is an absolute path.
const PATH_VARIABLES: &[(&str, &str)] = &[
    ("env:temp", "/tmp"),
    ("env:tmp", "/tmp"),
    ("env:tmpdir", "/tmp"),
    ("env:runner_temp", "/tmp"),
    ("env:windir", "/c/Windows"),
    ("env:systemroot", "/c/Windows"),
    ("env:programfiles", "/c/Program Files"),
    ("env:programfiles(x86)", "/c/Program Files (x86)"),
    ("env:programdata", "/c/ProgramData"),
    ("env:allusersprofile", "/c/ProgramData"),
    ("env:public", "/c/Users/Public"),
    ("env:systemdrive", "/c"),
    ("env:homedrive", "/c"),
    ("pshome", "/c/Windows/System32/WindowsPowerShell/v1.0"),
    ("env:comspec", "/c/Windows/System32/cmd.exe"),
];
/// Folders that `GetFolderPath` returns, below the home directory.
const HOME_FOLDERS: &[(&str, &str)] = &[
    ("userprofile", ""),
    ("personal", "/Documents"),
    ("mydocuments", "/Documents"),
    ("desktop", "/Desktop"),
    ("desktopdirectory", "/Desktop"),
    ("mypictures", "/Pictures"),
    ("applicationdata", "/AppData/Roaming"),
    ("localapplicationdata", "/AppData/Local"),
    ("startup", "/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup"),
];
/// Keys of the registry and the names of their drives.
const REGISTRY_ROOTS: &[(&str, &str)] = &[
    ("hkey_local_machine", "hklm"),
    ("hkey_current_user", "hkcu"),
    ("hkey_classes_root", "hkcr"),
    ("hkey_users", "hku"),
    ("hkey_current_config", "hkcc"),
    ("hklm", "hklm"),
    ("hkcu", "hkcu"),
    ("hkcr", "hkcr"),
    ("hku", "hku"),
    ("hkcc", "hkcc"),
];
/// Drives that do not contain files.
const OTHER_DRIVES: &[&str] = &["env", "cert", "function", "variable", "alias", "wsman"];

/// Returns the home directory. If the agent works below `C:\Users\NAME`, that directory is the home directory.
pub(in crate::shell) fn home_directory(scope: &ShellScope) -> String {
    let roots = &scope.site.roots;
    let directories = [scope.cwd.expected(), roots.project.as_deref()];
    let windows = directories.into_iter().flatten().find_map(|directory| {
        let (drive, rest) = directory.strip_prefix('/')?.split_once("/Users/")?;
        let user = rest.split('/').next().filter(|user| !user.is_empty())?;
        (drive.len() == 1).then(|| format!("/{drive}/Users/{user}"))
    });
    windows.unwrap_or_else(|| roots.home.clone())
}

/// Returns the value of a variable that is set outside the script.
pub(in crate::shell) fn variable_text(name: &str, scope: &ShellScope) -> Option<String> {
    if let Some((_, rest)) = HOME_VARIABLES.iter().find(|(known, _)| *known == name) {
        return Some(home_directory(scope) + rest);
    }
    if let Some((_, path)) = PATH_VARIABLES.iter().find(|(known, _)| *known == name) {
        return Some((*path).to_owned());
    }
    match name {
        "pwd" | "psscriptroot" | "env:pwd" => scope.cwd.certain().map(str::to_owned),
        "env:github_workspace" | "env:claude_project_dir" | "env:build_sourcesdirectory" => {
            scope.site.roots.project.clone()
        }
        "true" => Some("True".to_owned()),
        "false" => Some("False".to_owned()),
        "null" => Some(String::new()),
        _ => None,
    }
}

/// Returns the path of a special folder.
pub(super) fn folder_path(name: &str, scope: &ShellScope) -> Option<String> {
    let name = name.to_lowercase();
    let home = HOME_FOLDERS.iter().find(|(known, _)| *known == name);
    let fixed = match name.as_str() {
        "windows" => Some("/c/Windows"),
        "system" => Some("/c/Windows/System32"),
        "programfiles" => Some("/c/Program Files"),
        "commonapplicationdata" => Some("/c/ProgramData"),
        _ => None,
    };
    home.map(|(_, rest)| home_directory(scope) + rest).or_else(|| fixed.map(str::to_owned))
}

/// Converts the path in a word: backslashes become slashes, `~` the home directory, and a registry key a path below
/// `/registry`. `None` if nothing has to be converted, or if the word is not a path.
pub(in crate::shell) fn provider_path(text: &str, home: &str) -> Option<String> {
    let provider = text.rsplit_once("FileSystem::").map(|(_, path)| path);
    let text = provider.unwrap_or(text);
    if let Some(rest) = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
    {
        return Some(format!("{home}{}", rest.replace('\\', "/")));
    }
    if let Some(key) = registry_path(text) {
        return Some(key);
    }
    if let Some((drive, rest)) = text.split_once(':') {
        let drive = drive.to_lowercase();
        if OTHER_DRIVES.contains(&drive.as_str()) {
            return Some(format!("/{drive}:/{}", rest.trim_start_matches(['\\', '/']).replace('\\', "/")));
        }
        if matches!(drive.as_str(), "temp" | "testdrive") {
            return Some(format!("/tmp/{}", rest.trim_start_matches(['\\', '/']).replace('\\', "/")));
        }
        // `C:` without a directory is the root of the drive.
        if drive.len() == 1 && rest.is_empty() {
            return Some(format!("{text}/"));
        }
    }
    let is_rooted = || {
        let drive = text.get(1..3).is_some_and(|rest| matches!(rest, ":\\" | ":/"));
        drive || ["\\\\", ".\\", "..\\", "/"].iter().any(|start| text.starts_with(start))
    };
    let is_plain = || !text.contains(|c: char| c.is_whitespace() || "()[]{}^$+|\"'".contains(c));
    (text.contains('\\') && (is_rooted() || is_plain()))
        .then(|| text.replace('\\', "/"))
        .or_else(|| provider.map(str::to_owned))
}

/// Returns the path of a registry key: `HKLM:\Software`, `Registry::HKEY_LOCAL_MACHINE\Software`, `HKLM\Software`.
fn registry_path(text: &str) -> Option<String> {
    let named = text.rsplit_once("egistry::").map_or(text, |(_, key)| key);
    let end = named.find([':', '\\', '/']).unwrap_or(named.len());
    let (root, rest) = named.split_at_checked(end)?;
    let root = root.to_lowercase();
    let (_, short) = REGISTRY_ROOTS.iter().find(|(known, _)| *known == root)?;
    let rest = rest.trim_start_matches(':').trim_start_matches(['\\', '/']);
    Some(format!("/registry/{short}/{}", rest.replace('\\', "/").to_lowercase()))
}
