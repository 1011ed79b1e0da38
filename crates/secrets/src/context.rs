// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Secrets that take more than a prefix to tell.

use std::ops::Range;

use super::check::{different, entropy, is_mixed, is_uuid, stands_in};
use super::shape::{Letters, begins, ends, part};

/// Longer values are no secrets but texts.
const LONGEST: usize = 256;
const LONGEST_JWT_PART: usize = 4096;

/// `-----BEGIN … PRIVATE KEY-----` to its end, with line breaks of any kind.
pub(super) fn private_key(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    let span = pem(bytes, start)?;
    (!is_in_service_account(bytes, span.start)).then_some(span)
}

/// The same, where Google keeps it.
pub(super) fn service_account(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    let span = pem(bytes, start)?;
    is_in_service_account(bytes, span.start).then_some(span)
}

fn is_in_service_account(bytes: &[u8], at: usize) -> bool {
    let before = part(bytes, at.saturating_sub(24)..at);
    before.windows(11).any(|window| window == b"private_key")
}

fn pem(bytes: &[u8], start: Range<usize>) -> Option<Range<usize>> {
    let name = Letters::Capitals;
    let label =
        bytes.get(start.end..)?.iter().take(48).take_while(|byte| name.has(**byte) || **byte == b' ').count();
    let label_end = start.end + label;
    let is_key = [&b"PRIVATE KEY"[..], b"PRIVATE KEY BLOCK"]
        .iter()
        .any(|end| part(bytes, start.end..label_end).ends_with(end));
    let dashes = bytes.get(label_end..)?.starts_with(b"-----");
    if !is_key || !dashes {
        return None;
    }
    let from = label_end + 5;
    // The body: base64, headers, line breaks as such or as `\n`.
    let inside = |byte: &u8| {
        byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=\\:,.()\"'#>|*@<".contains(byte)
    };
    let mut end = from;
    loop {
        end += bytes.get(end..)?.iter().take_while(|byte| inside(byte)).count();
        match bytes.get(end..)? {
            [b'-', b'-', b'-', b'-', b'-', ..] => break,
            // A dash in a header, as in `DEK-Info`.
            [b'-', ..] => end += 1,
            _ => break,
        }
    }
    let body = part(bytes, from..end);
    let letters = body.iter().filter(|byte| Letters::Base64.has(**byte)).count();
    if letters < 40 || different(body) < 16 || stands_in_key(body) {
        return None;
    }
    let rest = bytes.get(end..)?;
    let closes = rest.starts_with(b"-----END ");
    let tail = if closes {
        rest.iter().skip(9).take(48).take_while(|byte| name.has(**byte) || **byte == b' ').count()
    } else {
        0
    };
    let close = end + 9 + tail;
    if closes && bytes.get(close..).is_some_and(|rest| rest.starts_with(b"-----")) {
        return Some(start.start..close + 5);
    }
    // Cut off: what is there is still the key.
    let kept = body.iter().rev().skip_while(|byte| !Letters::Base64.has(**byte)).count();
    Some(start.start..from + kept)
}

/// `...` where the key would be.
fn stands_in_key(body: &[u8]) -> bool {
    body.windows(3).any(|window| window == b"...")
        || body.windows(4).any(|window| window.eq_ignore_ascii_case(b"your"))
}

/// Three parts, the first of which says `alg`.
pub(super) fn jwt(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    if !begins(bytes, start.start) {
        return None;
    }
    let mut at = start.start;
    let mut parts = [0..0, 0..0, 0..0];
    for (index, span) in parts.iter_mut().enumerate() {
        if index > 0 {
            (bytes.get(at) == Some(&b'.')).then_some(())?;
            at += 1;
        }
        let length = Letters::Url.run(bytes, at, LONGEST_JWT_PART + 1);
        (length <= LONGEST_JWT_PART).then_some(())?;
        *span = at..at + length;
        at += length;
    }
    let [head, body, signature] = parts;
    let head = decoded(part(bytes, head))?;
    let says = head.windows(5).any(|window| window == b"\"alg\"");
    let signature = part(bytes, signature);
    (says && body.len() >= 8 && signature.len() >= 16 && different(signature) > 7).then_some(start.start..at)
}

/// Base64 of either alphabet, without the letters that fill it up.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
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

/// Digits before the colon, 35 letters from `AA` on.
pub(super) fn telegram(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    let before = part(bytes, start.start.saturating_sub(11)..start.start);
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let first = start.start.checked_sub(digits).filter(|_| (8..=10).contains(&digits))?;
    // `bot123…` in an address.
    let bot = part(bytes, first.saturating_sub(3)..first) == b"bot";
    let length = Letters::Url.run(bytes, start.end, 34);
    let token = part(bytes, start.end..start.end + 33);
    let fits = length == 33 && is_mixed(token) && !stands_in(token);
    (fits && (bot || begins(bytes, first))).then_some(first..start.end + 33)
}

/// Fourteen letters, `.atlasv1.`, sixty or more.
pub(super) fn terraform(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    let first = start.start.checked_sub(14)?;
    let head = part(bytes, first..start.start);
    let length = Letters::Url.run(bytes, start.end, 81);
    let fits = head.iter().all(|byte| Letters::Base62.has(*byte))
        && begins(bytes, first)
        && (60..=80).contains(&length);
    let end = start.end + length;
    let tail = part(bytes, start.end..end);
    (fits && is_mixed(tail) && !stands_in(tail)).then_some(first..end)
}

/// A number of the form of a UUID is a key only when something near says so.
pub(super) fn heroku(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    let near = part(bytes, start.end..(start.end + 48).min(bytes.len()));
    let line = near.split(|byte| *byte == b'\n').next()?;
    let sign = line.iter().position(|byte| matches!(byte, b'=' | b':'))?;
    let name = line.get(..sign)?;
    let says = [&b"key"[..], b"token", b"auth"]
        .iter()
        .any(|word| name.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word)));
    let gap =
        line.get(sign + 1..)?.iter().take_while(|byte| matches!(byte, b' ' | b'"' | b'\'' | b'=')).count();
    let from = start.end + sign + 1 + gap;
    let uuid = part(bytes, from..from + 36);
    (says && is_uuid(uuid) && different(uuid) > 7 && ends(bytes, from + 36)).then_some(from..from + 36)
}

/// Forty letters of base64 after the name.
pub(super) fn aws_secret(bytes: &[u8], start: Range<usize>, read: &mut usize) -> Option<Range<usize>> {
    let span = assigned_value(bytes, start.end, read)?;
    let value = part(bytes, span.clone());
    let fits = value.len() == 40 && value.iter().all(|byte| Letters::Base64.has(*byte));
    (fits && is_mixed(value) && !stands_in(value)).then_some(span)
}

/// `Authorization: Bearer …`, and the other schemes that carry a secret as it is.
pub(super) fn authorization(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    let rest = part(bytes, start.end..(start.end + LONGEST_JWT_PART).min(bytes.len()));
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
    let length = Letters::Any64.run(rest, 1, LONGEST_JWT_PART);
    let from = start.end + skipped + scheme + 1;
    let value = part(bytes, from..from + length);
    let varied = value.len() >= 12 && different(value) > 7 && value.iter().any(u8::is_ascii_digit);
    (varied && !stands_in(value)).then_some(from..from + length)
}

/// The password in `scheme://user:password@host`.
pub(super) fn url_password(bytes: &[u8], start: Range<usize>, _: &mut usize) -> Option<Range<usize>> {
    start.start.checked_sub(1).and_then(|at| bytes.get(at)).filter(|byte| byte.is_ascii_alphanumeric())?;
    let stops = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>/\\{}()$|,;".contains(byte);
    let place = part(bytes, start.end..(start.end + LONGEST).min(bytes.len()));
    let place = place.split(|byte| stops(byte)).next()?;
    let at = place.iter().rposition(|byte| *byte == b'@')?;
    let colon = place.iter().position(|byte| *byte == b':').filter(|colon| *colon < at)?;
    let (user, password) = (place.get(..colon)?, place.get(colon + 1..at)?);
    let host = place.get(at + 1).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'[');
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
    let unknown =
        password.iter().any(|byte| b"*%#[]".contains(byte)) && different(password) < 4 || stands_in(password);
    let fits = host && password.len() >= 4 && !word && !unknown && different(password) > 2;
    fits.then_some(start.end + colon + 1..start.end + at)
}

/// What may stand between the name and the sign: `secret_key`, `token2`.
const TAILS: &[&[u8]] = &[b"", b"_key", b"-key", b"key", b"_access_key", b"_value", b"_key_base", b"_base"];

/// `password = "…"`, `TOKEN: …`, `"apiKey": "…"`.
pub(super) fn assigned(bytes: &[u8], start: Range<usize>, read: &mut usize) -> Option<Range<usize>> {
    let tail = Letters::Url.run(bytes, start.end, 16);
    let name_end = start.end + tail;
    let tail = part(bytes, start.end..name_end);
    let tail = tail
        .iter()
        .rposition(|byte| !byte.is_ascii_digit())
        .map_or(&b""[..], |last| tail.get(..=last).unwrap_or_default());
    if !TAILS.iter().any(|known| known.eq_ignore_ascii_case(tail)) {
        return None;
    }
    let span = assigned_value(bytes, name_end, read)?;
    let quoted = span
        .start
        .checked_sub(1)
        .and_then(|at| bytes.get(at))
        .is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let value = part(bytes, span.clone());
    is_secret(value, quoted, part(bytes, start).eq_ignore_ascii_case(b"token")).then_some(span)
}

/// The value that follows a name: after `=`, `:`, `:=` or `=>`, in quotes or not.
fn assigned_value(bytes: &[u8], name_end: usize, read: &mut usize) -> Option<Range<usize>> {
    let rest = part(bytes, name_end..(name_end + LONGEST + 16).min(bytes.len()));
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
    // A quote that nobody closes was none.
    let length = match quote {
        Some(_) => length?,
        None => length.unwrap_or(value.len()),
    };
    // A name inside a bare value is part of it; in quotes there may be a text with names of its own.
    if quote.is_none() {
        *read = name_end + from + length;
    }
    (8..=LONGEST).contains(&length).then_some(name_end + from..name_end + from + length)
}

/// Whether a value is a secret, rather than code, a name or something that stands for one.
fn is_secret(value: &[u8], quoted: bool, is_token: bool) -> bool {
    let has = |is: &dyn Fn(&u8) -> bool| value.iter().any(is);
    // Code, templates, variables, sentences, addresses.
    let code: &[u8] = if quoted { b" \t{}<>" } else { b" \t(){}<>[]$\"'`*,;?" };
    let starts = value
        .first()
        .is_some_and(|byte| matches!(byte, b'$' | b'%' | b'<' | b'{' | b'/' | b'.' | b'@' | b'&' | b'*'));
    let address =
        [&b"://"[..], b"::"].iter().any(|sign| value.windows(sign.len()).any(|window| window == *sign));
    // `process.env.KEY2`, `config.token_v2`
    let letters = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let path = |part: &[u8]| part.first().is_some_and(u8::is_ascii_alphabetic) && part.iter().all(letters);
    let names = value.contains(&b'.') && value.split(|byte| *byte == b'.').all(path) && !quoted;
    if starts || address || names || has(&|byte| code.contains(byte)) || !value.is_ascii() || stands_in(value)
    {
        return false;
    }
    if is_uuid(value) || value.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b':'))
    {
        return false;
    }
    if value.iter().all(u8::is_ascii_hexdigit) {
        // A token of forty such letters is most likely a commit.
        return value.len() >= 32 && different(value) > 7 && !(is_token && value.len() == 40);
    }
    if value.starts_with(b"sha256-") || value.starts_with(b"sha512-") || value.starts_with(b"sha256:") {
        return false;
    }
    let digit = has(&u8::is_ascii_digit);
    let letter = has(&u8::is_ascii_alphabetic);
    let sign = has(&|byte| b"!@#$%^&*+=~?".contains(byte));
    // Words with dashes between them are names, even with a number at the end.
    let words = value.split(|byte| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':'));
    let plain = |word: &[u8]| {
        let trimmed = word.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
        let head = word.get(..trimmed).unwrap_or_default();
        head.iter().all(u8::is_ascii_lowercase) || head.iter().all(u8::is_ascii_uppercase)
    };
    let named = !sign && words.clone().count() > 1 && words.clone().all(plain);
    letter && (digit || sign && quoted) && !named && entropy(value) >= 2.8
}
