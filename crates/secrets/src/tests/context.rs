// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Secrets that are recognized by the surrounding text, and texts that contain no secrets.

use super::*;

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            text.push(char::from(LETTERS[(bits >> (18 - 6 * at) & 63) as usize]));
        }
    }
    text
}

fn assert_no_secret(text: &str) {
    assert_eq!(found(text), [], "{text}");
}

#[test]
fn private_keys_are_covered_whole() {
    let mut random = SeededRandom(10);
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "PGP "] {
        let block = if kind == "PGP " { " BLOCK" } else { "" };
        let lines: Vec<_> = (0..4).map(|_| random.text(BASE62, 64)).collect();
        for (break_, header) in [
            ("\n", ""),
            ("\r\n", "Proc-Type: 4,ENCRYPTED\r\nDEK-Info: AES-128-CBC,AB12\r\n\r\n"),
            ("\\n", ""),
        ] {
            let body = lines.join(break_);
            let key = format!(
                "-----BEGIN {kind}PRIVATE KEY{block}-----{break_}{header}{body}={break_}-----END {kind}PRIVATE KEY{block}-----"
            );
            let text = format!("key: |\n{key}\nmore");
            assert_eq!(found(&text), [("private-key", key.as_str())]);
            let json = format!("{{\"type\": \"service_account\", \"private_key\": \"{key}\\n\"}}");
            assert_eq!(found(&json), [("google-service-account", key.as_str())]);
            // A key without its end marker is still a key.
            let cut = key.get(..key.len() - 40).unwrap();
            assert_eq!(found(cut)[0].0, "private-key");
        }
        let public =
            format!("-----BEGIN {kind}PUBLIC KEY-----\n{}\n-----END {kind}PUBLIC KEY-----", lines.join("\n"));
        assert_no_secret(&public);
    }
    assert_no_secret("-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----");
    assert_no_secret("-----BEGIN RSA PRIVATE KEY-----");
    assert_no_secret("grep -r '-----BEGIN PRIVATE KEY-----' . | wc -l");
}

#[test]
fn web_tokens_need_a_header_with_an_algorithm() {
    let mut random = SeededRandom(11);
    let body = base64(b"{\"sub\":\"1\",\"name\":\"ada\"}");
    for alg in ["HS256", "RS256"] {
        let head = base64(format!("{{\"alg\":\"{alg}\",\"typ\":\"JWT\"}}").as_bytes());
        let token = format!("{head}.{body}.{}", random.text(BASE62, 43));
        assert_eq!(found(&format!("cookie={token};")), [("jwt", token.as_str())]);
        assert_eq!(found(&format!("Authorization: Bearer {token}")), [("jwt", token.as_str())]);
    }
    let other = base64(b"{\"version\":3,\"file\":\"x\"}");
    assert_no_secret(&format!("{other}.{body}.{}", random.text(BASE62, 43)));
    assert_no_secret(&format!("{other}.{body}"));
    assert_no_secret(&format!("data:application/json;base64,{other}"));
}

#[test]
fn passwords_in_addresses() {
    for (text, expected) in [
        ("git clone https://ada:Kx7vQ2mNp9@host.com/r", "Kx7vQ2mNp9"),
        ("DATABASE_URL=postgres://app:s3cr3t-9f@db:5432/x", "s3cr3t-9f"),
        ("redis://:hunter2!@cache", "hunter2!"),
    ] {
        assert_eq!(found(text), [("url-password", expected)], "{text}");
    }
    for text in [
        "https://host.com:8080/@scope/x",
        "postgres://user:password@localhost/x",
        "postgres://postgres:postgres@localhost",
        "https://user:$PASSWORD@host",
        "https://user:${PASSWORD}@host",
        "https://user:<password>@host",
        "https://user:xxxxxxxx@host",
        "https://ada@host.com/x",
        "see https://a.com: ask@b.com",
        "https://user:****@host",
    ] {
        assert_no_secret(text);
    }
}

#[test]
fn headers_that_carry_a_secret() {
    let mut random = SeededRandom(12);
    let token = format!("7{}", random.text(BASE62, 31));
    for text in [
        format!("curl -H 'Authorization: Bearer {token}' x"),
        format!("{{\"Authorization\": \"Bearer {token}\"}}"),
        format!("authorization: token {token}"),
        format!("headers={{'Authorization': 'Basic {token}'}}"),
    ] {
        assert_eq!(found(&text), [("authorization", token.as_str())], "{text}");
    }
    for text in [
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer your-token-here-1",
        "Authorization: Bearer {token}",
        "authorization basics are explained in chapter 12345678",
    ] {
        assert_no_secret(text);
    }
}

#[test]
fn values_of_names_that_say_so() {
    for (text, expected) in [
        ("password = \"Tr0ub4dor&3x\"", "Tr0ub4dor&3x"),
        ("DB_PASSWORD=kJ8s-92hFq1", "kJ8s-92hFq1"),
        ("{\"apiKey\": \"q8Zr3Lx0Vb7Nt5\"}", "q8Zr3Lx0Vb7Nt5"),
        ("client_secret: 4Gh7Jk2Lm9Qw\n", "4Gh7Jk2Lm9Qw"),
        ("export API_KEY='9d8f7g6h5j4k3l2'", "9d8f7g6h5j4k3l2"),
        ("secret_key := \"a1s2D3f4g5H6\"", "a1s2D3f4g5H6"),
        ("mysql --password=Zx81Qy72Wv", "Zx81Qy72Wv"),
        ("{\\\"token\\\": \\\"q8Zr3Lx0Vb7Nt5\\\"}", "q8Zr3Lx0Vb7Nt5"),
        ("SECRET=9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015"),
    ] {
        assert_eq!(found(text), [("assigned-secret", expected)], "{text}");
    }
    for text in [
        "password = getpass()",
        "password: string",
        "token: avx2_cpuid::InitToken,",
        "token = os.environ[\"TOKEN1\"]",
        "apiKey: process.env.API_KEY1",
        "const token = await fetchToken2();",
        "password=\"$PASSWORD1\"",
        "password: ${{ secrets.PASSWORD1 }}",
        "password = \"changeme123\"",
        "token: your-token-here-1",
        "api_key=<api-key-1>",
        "secret: xxxxxxxxxxxx1",
        "password: Enter at least 8 letters",
        "token = 123e4567-e89b-12d3-a456-426614174000",
        "token: 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
        "token_count = 1234567890123",
        "tokens: 12345678",
        "secret_name: my-secret-name-2",
        "secret: my-app-secret-v2",
        "password_hash = \"$2b$12$abc\"",
        "token=sha512-Kx7vQ2mNp9",
        "--token-file=/run/secrets/token1",
        "password=example-Passw0rd",
        "secretKeyRef: app1-secrets",
    ] {
        assert_no_secret(text);
    }
}

#[test]
fn keys_that_need_their_neighbours() {
    let mut random = SeededRandom(13);
    let key = format!("aB3{}", random.text(BASE62, 37));
    for text in [format!("aws_secret_access_key = {key}"), format!("\"SecretAccessKey\": \"{key}\"")] {
        assert_eq!(found(&text), [("aws-secret-key", key.as_str())], "{text}");
    }
    assert_no_secret(&format!("aws_secret_access_key = {}EXAMPLEKEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"));
    assert_no_secret("aws_secret_access_key = ${SECRET_KEY_1}");
    let uuid = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
    assert_eq!(found(&format!("HEROKU_API_KEY={uuid}")), [("heroku-key", uuid)]);
    assert_eq!(found(&format!("heroku_auth_token: \"{uuid}\"")), [("heroku-key", uuid)]);
    assert_no_secret(&format!("heroku_app_id={uuid}"));
    assert_no_secret(&format!("id={uuid} heroku"));
    for digits in ["123456789", "9876543210"] {
        let token = format!("{digits}:AAb7Q{}", random.text(BASE62, 30));
        assert_eq!(found(&format!("x {token} y")), [("telegram-token", token.as_str())]);
        assert_eq!(
            found(&format!("https://api.telegram.org/bot{token}/x")),
            [("telegram-token", token.as_str())]
        );
    }
    assert_no_secret(&format!("1234:AA{}", random.text(BASE62, 33)));
    assert_no_secret(&format!("123456789:AA{}", random.text(BASE62, 40)));
    for _ in 0..2 {
        let token = format!("{}.atlas{}.{}", random.text(BASE62, 14), "v1", random.text(BASE62, 67));
        assert_eq!(found(&format!("t=\"{token}\"")), [("terraform-token", token.as_str())]);
    }
    assert_no_secret(&format!("short.atlas{}.{}", "v1", random.text(BASE62, 67)));
    assert_no_secret(&format!("{}.atlas{}.{}", random.text(BASE62, 14), "v1", random.text(BASE62, 20)));
}

#[test]
fn ordinary_texts_hold_none() {
    let mut random = SeededRandom(14);
    assert_no_secret(&format!("{}IOSFODNN7EXAMPLE", "AKIA"));
    assert_no_secret("commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12");
    assert_no_secret("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  file");
    assert_no_secret("123e4567-e89b-12d3-a456-426614174000");
    assert_no_secret(&format!("\"integrity\": \"sha512-{}==\"", random.text(BASE62, 86)));
    assert_no_secret(&format!("checksum = \"{}\"", random.text("0123456789abcdef", 64)));
    assert_no_secret(&format!(
        "<img src=\"data:image/png;base64,iVBORw0KGgo{}\">",
        random.text(BASE62, 5000)
    ));
    assert_no_secret(".sk-folding-cube .sk-cube-with-a-rather-long-name:before { }");
    assert_no_secret("!function(e,t){var n=t.token;return e.secret=n||t.password2}(window,{token:a1b2});");
    assert_no_secret("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

#[test]
fn a_known_form_comes_before_a_guess() {
    let mut random = SeededRandom(15);
    let body = random.text(BASE62, 30);
    let token = format!("ghp_{body}{}", String::from_utf8_lossy(&checksum(body.as_bytes())));
    for text in [
        format!("TOKEN={token}"),
        format!("Authorization: Bearer {token}"),
        format!("https://x:{token}@github.com/o/r"),
        format!("password: \"{token}\""),
    ] {
        assert_eq!(found(&text), [("github-token", token.as_str())], "{text}");
    }
}
