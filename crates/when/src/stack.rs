// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Room to recurse.
//!
//! The library parses and evaluates by recursion, and a stack overflow ends the process: no
//! `catch_unwind` contains it. So the need is estimated, and what does not surely fit into any
//! thread's stack gets a thread of its own. In a release build that is only a condition of more
//! than a few hundred bytes, once, while it is compiled; evaluation always fits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crate::WhenError;
use crate::error::one_line;
use crate::limits::MAX_DEPTH;

const KIB: usize = 1024;
/// What may be used of a stack whose owner we do not know.
const SPARE: usize = 512 * KIB;
/// One level of brackets in the parser. Measured: 15 KiB, unoptimised 250 KiB.
const PARSE_LEVEL: usize = if cfg!(debug_assertions) { 320 * KIB } else { 24 * KIB };
/// One byte of a chain such as `1+1+1`. Measured: 0.5 KiB, unoptimised 1 KiB.
const PARSE_BYTE: usize = if cfg!(debug_assertions) { 2 * KIB } else { KIB };
/// One level of a tree while it is evaluated. Measured: 4 KiB, unoptimised 60 KiB.
const EVALUATE_LEVEL: usize = if cfg!(debug_assertions) { 96 * KIB } else { 8 * KIB };

/// What parsing this text may need.
pub(crate) fn to_parse(text: &str) -> usize {
    let mut open = 0usize;
    let mut deepest = 0;
    // Brackets in quotes count too: that only makes the estimate larger.
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    // The parser gives up soon after the limit.
    deepest.min(MAX_DEPTH + 16) * PARSE_LEVEL + text.len() * PARSE_BYTE
}

/// What evaluating a tree of this depth may need.
pub(crate) fn to_evaluate(depth: usize) -> usize {
    depth * EVALUATE_LEVEL
}

/// Does the work with at least `need` bytes of stack; a panic becomes an error. The process's
/// panic hook still prints: it is not ours to change.
pub(crate) fn with_room<T: Send>(need: usize, work: impl FnOnce() -> T + Send) -> Result<T, WhenError> {
    let contained = || {
        catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
            let said = payload.downcast_ref::<&str>().copied();
            let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            WhenError::Panicked(one_line(said.unwrap_or("no message")))
        })
    };
    if need <= SPARE {
        return contained();
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("when".to_owned()).stack_size(need + SPARE);
        let worker = builder
            .spawn_scoped(scope, contained)
            .map_err(|error| WhenError::Failed(format!("no thread for a deep condition: {error}")))?;
        worker.join().unwrap_or_else(|_| Err(WhenError::Panicked("no message".to_owned())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_or_without_a_thread() {
        for need in [0, SPARE + 1] {
            let panicked = with_room(need, || panic!("Of its own\naccord"));
            assert_eq!(panicked, Err::<(), _>(WhenError::Panicked("of its own accord".to_owned())));
            assert_eq!(with_room(need, || 7), Ok(7));
        }
    }

    #[test]
    fn a_release_build_evaluates_every_allowed_depth_in_place() {
        assert!(cfg!(debug_assertions) || to_evaluate(MAX_DEPTH) <= SPARE);
    }
}
