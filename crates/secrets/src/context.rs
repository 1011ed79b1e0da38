// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds secrets that are recognized by their surroundings, not by a prefix alone.

use std::ops::Range;

use super::check::{distinct_bytes, entropy_bits, is_mixed, is_placeholder, is_uuid};
use super::shape::{TokenAlphabet, can_begin_at, can_end_at, span_bytes};

/// Maximum length of a secret value. Longer values are prose or data.
const MAX_VALUE_BYTES: usize = 256;
const MAX_JWT_PART_BYTES: usize = 4096;

/// Finds a PEM private key from `-----BEGIN … PRIVATE KEY-----` to its end, with any kind of line breaks.
pub(super) fn find_private_key(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    let span = find_pem(bytes, start)?;
    (!is_in_service_account(bytes, span.start)).then_some(span)
}

/// Finds a PEM private key in the JSON file of a Google service account.
pub(super) fn find_service_account_key(
    bytes: &[u8],
    start: Range<usize>,
    _: &mut usize,
) -> Option<Range<usize>> {
    let span = find_pem(bytes, start)?;
    is_in_service_account(bytes, span.start).then_some(span)
}

fn is_in_service_account(bytes: &[u8], at: usize) -> bool {
    let before = span_bytes(bytes, at.saturating_sub(24)..at);
    before.windows(11).any(|window| window == b"private_key")
}

fn find_pem(bytes: &[u8], start: Range<usize>) -> Option<Range<usize>> {
    let name = TokenAlphabet::Capitals;
    let label = bytes
        .get(start.end..)?
        .iter()
        .take(48)
        .take_while(|byte| name.contains(**byte) || **byte == b' ')
        .count();
    let label_end = start.end + label;
    let is_key = [&b"PRIVATE KEY"[..], b"PRIVATE KEY BLOCK"]
        .iter()
        .any(|end| span_bytes(bytes, start.end..label_end).ends_with(end));
    let dashes = bytes.get(label_end..)?.starts_with(b"-----");
    if !is_key || !dashes {
        return None;
    }
    let from = label_end + 5;
    // The body of the key consists of base64, headers and line breaks. A line break may be written as `\n`.
    let inside = |byte: &u8| {
        byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=\\:,.()\"'#>|*@<".contains(byte)
    };
    let mut end = from;
    loop {
        end += bytes.get(end..)?.iter().take_while(|byte| inside(byte)).count();
        match bytes.get(end..)? {
            [b'-', b'-', b'-', b'-', b'-', ..] => break,
            // This dash is part of a header name such as `DEK-Info`.
            [b'-', ..] => end += 1,
            _ => break,
        }
    }
    let body = span_bytes(bytes, from..end);
    let letters = body.iter().filter(|byte| TokenAlphabet::Base64.contains(**byte)).count();
    if letters < 40 || distinct_bytes(body) < 16 || is_placeholder_key(body) {
        return None;
    }
    let rest = bytes.get(end..)?;
    let closes = rest.starts_with(b"-----END ");
    let tail = if closes {
        rest.iter().skip(9).take(48).take_while(|byte| name.contains(**byte) || **byte == b' ').count()
    } else {
        0
    };
    let close = end + 9 + tail;
    if closes && bytes.get(close..).is_some_and(|rest| rest.starts_with(b"-----")) {
        return Some(start.start..close + 5);
    }
    // The end marker is missing, but the existing part is still a key.
    let kept = body.iter().rev().skip_while(|byte| !TokenAlphabet::Base64.contains(**byte)).count();
    Some(start.start..from + kept)
}

/// Whether the body of a key is a placeholder such as `...`.
fn is_placeholder_key(body: &[u8]) -> bool {
    body.windows(3).any(|window| window == b"...")
        || body.windows(4).any(|window| window.eq_ignore_ascii_case(b"your"))
}

/// Finds a JSON Web Token: three parts, the first of which has the key `alg`.
pub(super) fn find_jwt(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    if !can_begin_at(bytes, start.start) {
        return None;
    }
    let mut at = start.start;
    let mut parts = [0..0, 0..0, 0..0];
    for (index, span) in parts.iter_mut().enumerate() {
        if index > 0 {
            (bytes.get(at) == Some(&b'.')).then_some(())?;
            at += 1;
        }
        let length = TokenAlphabet::Url.run_len(bytes, at, MAX_JWT_PART_BYTES + 1);
        (length <= MAX_JWT_PART_BYTES).then_some(())?;
        *span = at..at + length;
        at += length;
    }
    let [head, body, signature] = parts;
    let head = decode_any_base64(span_bytes(bytes, head))?;
    let has_algorithm = head.windows(5).any(|window| window == b"\"alg\"");
    let signature = span_bytes(bytes, signature);
    (has_algorithm && body.len() >= 8 && signature.len() >= 16 && distinct_bytes(signature) > 7)
        .then_some(start.start..at)
}

/// Decodes base64 of either alphabet, ignoring padding.
fn decode_any_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0u32, 0u32);
    for letter in text.iter().filter(|letter| **letter != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

/// Finds a Telegram bot token: digits, a colon, and 35 characters that begin with `AA`.
pub(super) fn find_telegram_token(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    let before = span_bytes(bytes, start.start.saturating_sub(11)..start.start);
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let first = start.start.checked_sub(digits).filter(|_| (8..=10).contains(&digits))?;
    // The number may follow `bot`, as in the URL `bot123…`.
    let bot = span_bytes(bytes, first.saturating_sub(3)..first) == b"bot";
    let length = TokenAlphabet::Url.run_len(bytes, start.end, 34);
    let token = span_bytes(bytes, start.end..start.end + 33);
    let fits = length == 33 && is_mixed(token) && !is_placeholder(token);
    (fits && (bot || can_begin_at(bytes, first))).then_some(first..start.end + 33)
}

/// Finds a Terraform Cloud token: 14 characters, `.atlasv1.`, and 60 to 80 characters.
pub(super) fn find_terraform_token(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    let first = start.start.checked_sub(14)?;
    let head = span_bytes(bytes, first..start.start);
    let length = TokenAlphabet::Url.run_len(bytes, start.end, 81);
    let fits = head.iter().all(|byte| TokenAlphabet::Base62.contains(*byte))
        && can_begin_at(bytes, first)
        && (60..=80).contains(&length);
    let end = start.end + length;
    let tail = span_bytes(bytes, start.end..end);
    (fits && is_mixed(tail) && !is_placeholder(tail)).then_some(first..end)
}

/// Finds a Heroku key: a UUID that follows a name with `key`, `token` or `auth`.
pub(super) fn find_heroku_key(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    let near = span_bytes(bytes, start.end..(start.end + 48).min(bytes.len()));
    let line = near.split(|byte| *byte == b'\n').next()?;
    let sign = line.iter().position(|byte| matches!(byte, b'=' | b':'))?;
    let name = line.get(..sign)?;
    let names_key = [&b"key"[..], b"token", b"auth"]
        .iter()
        .any(|word| name.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word)));
    let gap =
        line.get(sign + 1..)?.iter().take_while(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'=')).count();
    let from = start.end + sign + 1 + gap;
    let uuid = span_bytes(bytes, from..from + 36);
    (names_key && is_uuid(uuid) && distinct_bytes(uuid) > 7 && can_end_at(bytes, from + 36))
        .then_some(from..from + 36)
}

/// Finds an AWS secret key: forty base64 characters that are assigned to its name.
pub(super) fn find_aws_secret(bytes: &[u8], start: Range<usize>, read: &mut usize) -> Option<Range<usize>> {
    let span = find_assigned_value(bytes, start.end, read)?;
    let value = span_bytes(bytes, span.clone());
    let fits = value.len() == 40 && value.iter().all(|byte| TokenAlphabet::Base64.contains(*byte));
    (fits && is_mixed(value) && !is_placeholder(value)).then_some(span)
}

/// Finds the credentials in `Authorization: Bearer …`, and in other schemes that send a secret unchanged.
pub(super) fn find_authorization(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    let rest = span_bytes(bytes, start.end..(start.end + MAX_JWT_PART_BYTES).min(bytes.len()));
    let gap = |rest: &[u8]| rest.iter().take(8).take_while(|byte| b" \"':=\\,".contains(byte)).count();
    let skipped = gap(rest);
    let rest = rest.get(skipped..)?;
    let scheme = rest.iter().take(8).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let known = [&b"bearer"[..], b"basic", b"token", b"ssws", b"apikey"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(rest.get(..scheme).unwrap_or_default()));
    let rest = rest.get(scheme..)?;
    if skipped == 0 || !known || rest.first() != Some(&b' ') {
        return None;
    }
    let length = TokenAlphabet::Any64.run_len(rest, 1, MAX_JWT_PART_BYTES);
    let from = start.end + skipped + scheme + 1;
    let value = span_bytes(bytes, from..from + length);
    let varied = value.len() >= 12 && distinct_bytes(value) > 7 && value.iter().any(u8::is_ascii_digit);
    (varied && !is_placeholder(value)).then_some(from..from + length)
}

/// Finds the password in `scheme://user:password@host`.
pub(super) fn find_url_password(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    start.start.checked_sub(1).and_then(|at| bytes.get(at)).filter(|byte| byte.is_ascii_alphanumeric())?;
    let stops = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>/\\{}()$|,;".contains(byte);
    let authority = span_bytes(bytes, start.end..(start.end + MAX_VALUE_BYTES).min(bytes.len()));
    let authority = authority.split(|byte| stops(byte)).next()?;
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let colon = authority.iter().position(|byte| *byte == b':').filter(|colon| *colon < at)?;
    let (user, password) = (authority.get(..colon)?, authority.get(colon + 1..at)?);
    let has_host = authority.get(at + 1).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'[');
    let words: [&[u8]; 12] = [
        b"password",
        b"pass",
        b"passwd",
        b"pwd",
        b"secret",
        b"token",
        b"test",
        b"user",
        b"admin",
        b"root",
        b"guest",
        b"postgres",
    ];
    let word = words.iter().any(|word| word.eq_ignore_ascii_case(password)) || user == password;
    let unknown = password.iter().any(|byte| b"*%#[]".contains(byte)) && distinct_bytes(password) < 4
        || is_placeholder(password);
    let fits = has_host && password.len() >= 4 && !word && !unknown && distinct_bytes(password) > 2;
    fits.then_some(start.end + colon + 1..start.end + at)
}

/// Suffixes of a name. A name with such a suffix still names a secret: `secret_key`, `token_value`.
const NAME_SUFFIXES: &[&[u8]] =
    &[b"", b"_key", b"-key", b"key", b"_access_key", b"_value", b"_key_base", b"_base"];

/// Finds the value in `password = "…"`, `TOKEN: …` or `"apiKey": "…"`.
pub(super) fn find_assigned_secret(
    bytes: &[u8],
    start: Range<usize>,
    read: &mut usize,
) -> Option<Range<usize>> {
    let tail = TokenAlphabet::Url.run_len(bytes, start.end, 16);
    let name_end = start.end + tail;
    let tail = span_bytes(bytes, start.end..name_end);
    let tail = tail
        .iter()
        .rposition(|byte| !byte.is_ascii_digit())
        .map_or(&b""[..], |last| tail.get(..=last).unwrap_or_default());
    if !NAME_SUFFIXES.iter().any(|known| known.eq_ignore_ascii_case(tail)) {
        return None;
    }
    let span = find_assigned_value(bytes, name_end, read)?;
    let quoted = span
        .start
        .checked_sub(1)
        .and_then(|at| bytes.get(at))
        .is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let value = span_bytes(bytes, span.clone());
    is_secret(value, quoted, span_bytes(bytes, start).eq_ignore_ascii_case(b"token")).then_some(span)
}

/// Finds the value that follows a name after `=`, `:`, `:=` or `=>`, with or without quotes.
fn find_assigned_value(bytes: &[u8], name_end: usize, read: &mut usize) -> Option<Range<usize>> {
    let rest = span_bytes(bytes, name_end..(name_end + MAX_VALUE_BYTES + 16).min(bytes.len()));
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let skip = |at: usize, is: &dyn Fn(&u8) -> bool| {
        at + rest.iter().skip(at).take(6).take_while(|byte| is(byte)).count()
    };
    let at = skip(0, &|byte| blank(byte) || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b']'));
    let sign = skip(at, &|byte| matches!(byte, b':' | b'=' | b'>'));
    if sign == at || sign > at + 2 {
        return None;
    }
    let at = skip(sign, &blank);
    let at = skip(at, &|byte| *byte == b'\\');
    let quote = rest.get(at).filter(|byte| matches!(byte, b'"' | b'\'' | b'`')).copied();
    let from = at + usize::from(quote.is_some());
    let value = rest.get(from..)?;
    let stops = |byte: &u8| match quote {
        Some(quote) => *byte == quote || matches!(byte, b'\n' | b'\\'),
        None => byte.is_ascii_whitespace() || b"\"'`,;)}]&|<>\\".contains(byte),
    };
    let length = value.iter().position(stops);
    // A value without a closing quote is not quoted text, so nothing is found.
    let length = match quote {
        Some(_) => length?,
        None => length.unwrap_or(value.len()),
    };
    // A name inside an unquoted value is part of that value, so it is not searched again. Quoted text may contain
    // further assignments.
    if quote.is_none() {
        *read = name_end + from + length;
    }
    (8..=MAX_VALUE_BYTES).contains(&length).then_some(name_end + from..name_end + from + length)
}

/// Whether a value is a secret, and not code, a name or a placeholder.
fn is_secret(value: &[u8], quoted: bool, is_token: bool) -> bool {
    let has = |is: &dyn Fn(&u8) -> bool| value.iter().any(is);
    // These characters occur in code, templates, variables and sentences, but not in secrets.
    let code: &[u8] = if quoted { b" \t{}<>" } else { b" \t(){}<>[]$\"'`*,;?" };
    let starts = value
        .first()
        .is_some_and(|byte| matches!(byte, b'$' | b'%' | b'<' | b'{' | b'/' | b'.' | b'@' | b'&' | b'*'));
    let address =
        [&b"://"[..], b"::"].iter().any(|sign| value.windows(sign.len()).any(|window| window == *sign));
    // The value is a path of names in code: `process.env.KEY2`, `config.token_v2`.
    let letters = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let path = |part: &[u8]| part.first().is_some_and(u8::is_ascii_alphabetic) && part.iter().all(letters);
    let names = value.contains(&b'.') && value.split(|byte| *byte == b'.').all(path) && !quoted;
    if starts
        || address
        || names
        || has(&|byte| code.contains(byte))
        || !value.is_ascii()
        || is_placeholder(value)
    {
        return false;
    }
    if is_uuid(value) || value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b':'))
    {
        return false;
    }
    if value.iter().all(u8::is_ascii_hexdigit) {
        // A `token` of forty hexadecimal digits is most likely a commit id.
        return value.len() >= 32 && distinct_bytes(value) > 7 && !(is_token && value.len() == 40);
    }
    if value.starts_with(b"sha256-") || value.starts_with(b"sha512-") || value.starts_with(b"sha256:") {
        return false;
    }
    let digit = has(&u8::is_ascii_digit);
    let letter = has(&u8::is_ascii_alphabetic);
    let sign = has(&|byte| b"!@#$%^&*+=~?".contains(byte));
    // Words joined by dashes are a name, even with a number at the end.
    let words = value.split(|byte| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':'));
    let plain = |word: &[u8]| {
        let trimmed = word.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
        let head = word.get(..trimmed).unwrap_or_default();
        head.iter().all(u8::is_ascii_lowercase) || head.iter().all(u8::is_ascii_uppercase)
    };
    let named = !sign && words.clone().count() > 1 && words.clone().all(plain);
    letter && (digit || sign && quoted) && !named && entropy_bits(value) >= 2.8
}
