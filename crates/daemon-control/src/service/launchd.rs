// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats launchd property lists and commands.

use std::path::Path;

use super::ServiceDefinition;

const LABEL: &str = "dev.tenterhook.daemon";
pub(super) const FILE: &str = "dev.tenterhook.daemon.plist";

pub(super) fn format_property_list(service: &ServiceDefinition) -> String {
    let word = |word: &String| format!("    <string>{}</string>\n", escape_xml(word));
    let words: String = service.words.iter().map(word).collect();
    let variable = |(name, value): &(&str, String)| {
        format!("    <key>{name}</key>\n    <string>{}</string>\n", escape_xml(value))
    };
    let variables: String = service.variables.iter().map(variable).collect();
    let log = escape_xml(&service.log.display().to_string());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>{LABEL}</string>\n\
         \x20 <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n\
         \x20 <key>EnvironmentVariables</key>\n  <dict>\n{variables}  </dict>\n\
         \x20 <key>RunAtLoad</key>\n  <true/>\n\
         \x20 <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n\
         \x20 <key>Umask</key>\n  <integer>63</integer>\n\
         \x20 <key>StandardErrorPath</key>\n  <string>{log}</string>\n</dict>\n</plist>\n"
    )
}

/// Builds a `launchctl` command for the user's domain or the system domain.
pub(super) fn launchctl(verb: &str, path: Option<&Path>, is_system: bool) -> Vec<String> {
    let uid = rustix::process::getuid().as_raw();
    let domain = if is_system { "system".to_owned() } else { format!("gui/{uid}") };
    let path = path.map(|path| path.display().to_string());
    ["launchctl".to_owned(), verb.to_owned(), domain].into_iter().chain(path).collect()
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
