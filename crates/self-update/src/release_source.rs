// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads releases from a directory, a `file:` URL or an HTTPS address.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tenterhook_error::Failure;

/// Source that `make dist` compiles in. It is used if neither `--from` nor `TENTERHOOK_RELEASES` names a source.
const COMPILED_IN_SOURCE: Option<&str> = option_env!("TENTERHOOK_RELEASE_URL");
const DOWNLOAD_TIMEOUT: Duration = Duration::from_mins(5);
/// Maximum size of a downloaded file.
const MAX_DOWNLOAD_BYTES: u64 = 200 << 20;

/// The place from which the files of a release are read.
#[derive(Debug)]
pub enum ReleaseSource {
    /// Files on this machine.
    Directory(PathBuf),
    /// Files on a web server, by their base address.
    Web(String),
}

impl ReleaseSource {
    /// Chooses the source: from the command line, or else from the environment, or else the compiled-in source.
    pub fn choose(given: Option<&str>, configured: Option<&str>) -> Result<Self, Failure> {
        let named = given.or(configured).or(COMPILED_IN_SOURCE).filter(|text| !text.is_empty());
        let Some(text) = named else {
            return Err(Failure::user("no release source is configured")
                .hint("name a directory or an https address with `--from`, or set `TENTERHOOK_RELEASES`"));
        };
        if let Some(path) = text.strip_prefix("file://") {
            return Ok(Self::Directory(PathBuf::from(path)));
        }
        if text.starts_with("https://") || is_loopback(text) {
            return Ok(Self::Web(text.trim_end_matches('/').to_owned()));
        }
        if text.contains("://") {
            return Err(Failure::user(format!("unsupported release source `{text}`"))
                .hint("use an https address or a directory"));
        }
        Ok(Self::Directory(PathBuf::from(text)))
    }

    /// Reads a file of the release.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Directory(dir) => {
                let mut bytes = Vec::new();
                fs_err::File::open(dir.join(name))?.take(MAX_DOWNLOAD_BYTES).read_to_end(&mut bytes)?;
                Ok(bytes)
            }
            Self::Web(base) => download(&format!("{base}/{name}")),
        }
    }

    /// Reads a text file of the release.
    pub fn read_text(&self, name: &str) -> Result<String, Failure> {
        let bytes = self.read(name)?;
        String::from_utf8(bytes).map_err(|_| Failure::internal(format!("{name} is not a text file")))
    }
}

/// Whether an address is plain HTTP on this machine, which is accepted for tests.
fn is_loopback(address: &str) -> bool {
    ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"].iter().any(|base| address.starts_with(base))
}

fn download(url: &str) -> Result<Vec<u8>, Failure> {
    let failed = |error: ureq::Error| {
        Failure::internal(format!("`{url}` could not be downloaded: {error}"))
            .hint("download the release yourself and name its directory with `--from`")
    };
    let library = rustls::crypto::aws_lc_rs::default_provider();
    let tls = ureq::tls::TlsConfig::builder().unversioned_rustls_crypto_provider(Arc::new(library)).build();
    let agent: ureq::Agent =
        ureq::Agent::config_builder().timeout_global(Some(DOWNLOAD_TIMEOUT)).tls_config(tls).build().into();
    let mut response = agent.get(url).call().map_err(failed)?;
    response.body_mut().with_config().limit(MAX_DOWNLOAD_BYTES).read_to_vec().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_comes_before_the_environment() {
        let chosen = ReleaseSource::choose(Some("/given"), Some("/configured")).unwrap();
        assert!(matches!(chosen, ReleaseSource::Directory(dir) if dir.as_os_str() == "/given"));
        let chosen = ReleaseSource::choose(None, Some("https://example.com/releases/")).unwrap();
        assert!(matches!(chosen, ReleaseSource::Web(base) if base == "https://example.com/releases"));
        let chosen = ReleaseSource::choose(Some("file:///srv/releases"), None).unwrap();
        assert!(matches!(chosen, ReleaseSource::Directory(dir) if dir.as_os_str() == "/srv/releases"));
    }

    #[test]
    fn plain_http_is_refused_beyond_this_machine() {
        assert!(ReleaseSource::choose(Some("http://127.0.0.1:8000"), None).is_ok());
        for address in
            ["http://example.com", "http://localhost.example.com:80", "ftp://example.com", "git://x"]
        {
            assert!(ReleaseSource::choose(Some(address), None).is_err(), "{address}");
        }
    }
}
