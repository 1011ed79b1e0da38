// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Recognises clients that send what they are given to a server, and print only the response.

use super::command::ShellCommand;

/// Programs that send a request and print the response.
const REQUEST_CLIENTS: &[&str] = &["curl", "gh", "grpcurl", "http", "https", "wget", "xh"];
/// Clients whose option `-p` selects what is printed: `http -p Hh`.
const SELECTING_CLIENTS: &[&str] = &["http", "https", "xh"];
/// Long options with which a client also prints its request.
const PRINTING_OPTIONS: &[&str] = &["debug", "offline", "print", "trace", "verbose"];
/// Length of the shortest abbreviation of a long option.
const MIN_OPTION_LETTERS: usize = 3;

/// Whether a program sends a request and prints the response.
pub(super) fn is_request_client(program: &str) -> bool {
    REQUEST_CLIENTS.contains(&program)
}

/// Whether a command prints the response of a server and none of its own words or input.
pub(super) fn prints_only_response(command: &ShellCommand) -> bool {
    let program = command.program.as_str();
    is_request_client(program)
        && !command.words.iter().any(|word| prints_request(SELECTING_CLIENTS.contains(&program), &word.text))
}

/// Whether a word is an option with which a client also prints its request, as `curl -v` does.
fn prints_request(has_selection: bool, word: &str) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        let given = long.split('=').next().unwrap_or_default();
        let is_meant = |option: &&str| {
            given.starts_with(*option) || given.len() >= MIN_OPTION_LETTERS && option.starts_with(given)
        };
        return PRINTING_OPTIONS.iter().any(is_meant);
    }
    let Some(short) = word.strip_prefix('-') else { return false };
    let mut letters = short.chars().take_while(char::is_ascii_alphanumeric);
    letters.any(|letter| letter == 'v' || has_selection && letter == 'p')
}

#[cfg(test)]
mod tests {
    use super::super::tests::read_text;

    #[test]
    fn a_client_that_prints_its_request_is_recognised() {
        let is_silent = |line: &str| super::prints_only_response(&read_text(line).commands[0]);
        for line in [
            "curl https://x.io",
            "curl -sSfL -H 'Accept: v1' https://x.io",
            "curl --progress-bar https://x.io",
            "http POST https://x.io a=b",
            "gh api user",
        ] {
            assert!(is_silent(line), "{line}");
        }
        for line in [
            "curl -v https://x.io",
            "curl -sv https://x.io",
            "curl -vHa:b https://x.io",
            "curl --trace-ascii - https://x.io",
            "curl --verb https://x.io",
            "http -pHBhb https://x.io",
            "http -p Hh https://x.io",
            "xh -p H https://x.io",
            "https --print=HB https://x.io",
            "http --debug https://x.io",
            "http --offline https://x.io",
            "grpcurl -v x.io:1 a.B/C",
            "gh api --verbose user",
            "cat file",
        ] {
            assert!(!is_silent(line), "{line}");
        }
    }
}
