// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The programs that connect somewhere, and how they take their words.

use crate::facts::known::known;

/// What the words of a program mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Every operand is an address, with or without a scheme.
    Web,
    /// The first operand that is no method is an address; the rest is what is sent.
    Request,
    /// A host, then perhaps a port.
    HostPort,
    /// Every operand is a host.
    Hosts,
    /// The first operand is a host, the rest runs there.
    Shell,
    /// Operands are files, here or as `host:path`.
    Copy,
    /// `TCP:host:port,option` and its kin.
    Socat,
    /// Names, types and `@server`.
    Lookup,
    /// Names of images, which may begin with a host.
    Images,
    /// Only options name a host.
    Options,
}

/// One program.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    pub(super) how: How,
    /// Letters of options that take a value.
    pub(super) letters: &'static str,
    /// Names of options that take a value.
    pub(super) values: &'static str,
    /// Options, letters and names, whose value is an address or a host.
    pub(super) hosts: &'static [&'static str],
}

const fn program(
    how: How,
    names: &'static [&'static str],
    letters: &'static str,
    values: &'static str,
    hosts: &'static [&'static str],
) -> Program {
    Program { names, how, letters, values, hosts }
}

/// The row of a program.
pub(super) fn program_of(name: &str) -> Option<&'static Program> {
    if !known!(PROGRAMS, names).may_have(name) {
        return None;
    }
    PROGRAMS.iter().find(|program| program.names.contains(&name))
}

/// Programs that only print, search or store what they are given: an address is just a text there.
pub(super) const TEXT_ONLY: &str = "\
    echo printf print grep egrep fgrep rg ag ack sed awk gawk mawk perl tr cut sort uniq wc head \
    tail cat tee test [ [[ expr jq yq ls cd mkdir touch rm cp mv ln find export declare local \
    readonly set read let true false : basename dirname diff cmp logger notify-send gh say fold \
    column base64 md5sum sha256sum alias unset sleep kill date which";

const CURL_VALUES: &str = "\
    abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout \
    connect-to continue-at cookie cookie-jar create-file-mode crlfile curves data data-ascii \
    data-binary data-raw data-urlencode delegation dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers \
    doh-url dump-header ech egd-file engine etag-compare etag-save expect100-timeout form \
    form-string ftp-account ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms \
    haproxy-clientip header hostpubmd5 hostpubsha256 hsts interface ip-tos ipfs-gateway \
    json keepalive-cnt keepalive-time key key-type krb libcurl limit-rate local-port login-options \
    mail-auth mail-from mail-rcpt max-filesize max-redirs max-time netrc-file noproxy \
    oauth2-bearer output output-dir parallel-max pass pinnedpubkey preproxy proto proto-default \
    proto-redir proxy proxy-cacert proxy-cert proxy-header proxy-key proxy-pass proxy-user proxy1.0 \
    pubkey quote random-file range rate referer request request-target resolve retry retry-delay \
    retry-max-time sasl-authzid service-name socks4 socks4a socks5 socks5-hostname speed-limit \
    speed-time stderr telnet-option tftp-blksize time-cond tls-max tls13-ciphers trace trace-ascii \
    trace-config unix-socket upload-file url url-query user user-agent variable vlan-priority write-out";
const CURL_HOSTS: &[&str] = &[
    "url",
    "x",
    "proxy",
    "proxy1.0",
    "preproxy",
    "socks4",
    "socks4a",
    "socks5",
    "socks5-hostname",
    "doh-url",
    "dns-servers",
    "ipfs-gateway",
];
const WGET_VALUES: &str = "\
    accept append-output base bind-address body-data body-file ca-certificate certificate connect-timeout \
    cut-dirs default-page directory-prefix dns-timeout domains exclude-directories exclude-domains \
    execute header http-password http-user input-file level limit-rate load-cookies max-redirect \
    method output-document output-file password post-data post-file private-key progress \
    proxy-password proxy-user quota read-timeout referer reject restrict-file-names save-cookies \
    secure-protocol timeout tries user user-agent wait waitretry";
const HTTPIE_VALUES: &str = "\
    auth auth-type bearer boundary cert cert-key chunked default-scheme format-options max-headers \
    max-redirects output pretty print proxy raw response-charset response-mime session session-read-only \
    ssl style timeout verify";
const ARIA_VALUES: &str = "\
    all-proxy checksum dir ftp-proxy header http-passwd http-proxy http-user https-proxy input-file \
    load-cookies log max-concurrent-downloads max-connection-per-server min-split-size out referer \
    save-session split timeout user-agent";
const DOCKER_VALUES: &str = "\
    add-host annotation build-arg cap-add cap-drop cgroupns cidfile config context cpus device dns \
    entrypoint env env-file expose file gpus group-add health-cmd host hostname ip ipc label link \
    log-driver log-level log-opt memory mount name net network network-alias password pid platform \
    publish pull restart runtime security-opt shm-size stop-signal tag target tmpfs ulimit user \
    username userns volume volumes-from workdir";
const SSH_LETTERS: &str = "BbcDEeFIiJLlmOopQRSWw";
const DATABASE: &str = "host port user dbname database username password file command eval";

const PROGRAMS: &[Program] = &[
    program(How::Web, &["curl", "curlie"], "AbcCdDeEFhHKmoPQrtTuUwxXyYz", CURL_VALUES, CURL_HOSTS),
    program(How::Web, &["wget", "wget2"], "oOaeBTwQPUtiDARlX", WGET_VALUES, &["base", "B"]),
    program(How::Request, &["http", "https", "xh", "xhs"], "aopAs", HTTPIE_VALUES, &[]),
    program(
        How::Web,
        &["aria2c", "axel"],
        "dilojkmsxnSUH",
        ARIA_VALUES,
        &["all-proxy", "http-proxy", "https-proxy"],
    ),
    program(
        How::Web,
        &["lynx", "links", "elinks", "w3m", "lwp-request", "GET", "HEAD"],
        "ITo",
        "-cfg -useragent",
        &[],
    ),
    program(
        How::Web,
        &["ab", "hey", "wrk", "siege", "httrack", "yt-dlp", "websocat", "wscat", "grpcurl"],
        "ncotHAdTDmpuOcfr",
        "output header data format",
        &["connect"],
    ),
    program(
        How::HostPort,
        &["nc", "ncat", "netcat", "nc.openbsd", "nc.traditional"],
        "cegGIimMoOpPqsTVwWXx",
        "\
            exec sh-exec lua-exec source source-port proxy proxy-type proxy-auth wait idle-timeout \
            output",
        &["x", "proxy"],
    ),
    program(How::HostPort, &["telnet", "ftp", "lftp", "tftp", "rlogin", "rsh"], "beElnSXpu", "", &[]),
    program(How::Shell, &["ssh", "autossh", "mosh", "slogin"], SSH_LETTERS, "ssh", &["J", "W"]),
    program(How::Hosts, &["ssh-copy-id", "ssh-keyscan"], "iopFtTf", "", &[]),
    program(How::Copy, &["scp", "sftp", "sshfs", "rcp"], "cDFiJloPSXbBRs", "", &["J"]),
    program(
        How::Copy,
        &["rsync", "rclone", "unison"],
        "eTfBM",
        "\
            rsh exclude include exclude-from include-from files-from filter chmod chown port temp-dir \
            backup-dir log-file bwlimit timeout password-file",
        &[],
    ),
    program(How::Socat, &["socat"], "bLtTlf", "", &[]),
    program(
        How::Lookup,
        &["dig", "drill", "kdig", "host", "nslookup", "delv", "resolvectl", "dog", "doggo"],
        "bcfkpqtxyWRN",
        "",
        &["q"],
    ),
    program(
        How::Hosts,
        &["ping", "ping6", "fping", "arping", "traceroute", "traceroute6", "tracepath", "mtr", "hping3"],
        "cFiIlmMpQsStTwWfqgN",
        "interval count",
        &[],
    ),
    program(
        How::Hosts,
        &["nmap", "masscan", "rustscan", "whois"],
        "peigDSoxT",
        "script max-rate rate -oN -oX -oG -oA -iL",
        &["-h"],
    ),
    program(
        How::Images,
        &["docker", "podman", "nerdctl", "buildah", "crane", "skopeo"],
        "acehlmpuvwft",
        DOCKER_VALUES,
        &[],
    ),
    program(
        How::Options,
        &["openssl"],
        "",
        "\
            -connect -host -port -proxy -servername -cert -key -CAfile -url -in -out",
        &["-connect", "-host", "-proxy", "-url"],
    ),
    program(
        How::Options,
        &[
            "mysql",
            "mysqldump",
            "mariadb",
            "mysqladmin",
            "psql",
            "pg_dump",
            "pg_restore",
            "createdb",
            "dropdb",
            "redis-cli",
            "mongosh",
            "mongo",
            "mongodump",
            "cqlsh",
            "clickhouse-client",
            "sqlcmd",
        ],
        "hPpUudDSnfcaGe",
        DATABASE,
        &["h", "host"],
    ),
];
