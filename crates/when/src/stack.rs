// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Provides enough stack for recursion.
//!
//! The library parses and evaluates recursively. A stack overflow ends the process, because `catch_unwind` cannot catch
//! it. So the required stack is estimated, and work that might need more runs in a separate thread. In a release build,
//! only compiling a condition of more than a few hundred bytes needs such a thread. Evaluation always fits.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crate::WhenError;
use crate::error::one_line;
use crate::limits::MAX_DEPTH;

const KIB: usize = 1024;
/// Stack size that is assumed to be free in any thread.
const SPARE_STACK_BYTES: usize = 512 * KIB;
/// Stack size for one level of parentheses in the parser. Measured: 15 KiB optimised, 250 KiB unoptimised.
const PARSE_LEVEL_BYTES: usize = if cfg!(debug_assertions) { 320 * KIB } else { 24 * KIB };
/// Stack size for one byte of a chain such as `1+1+1`. Measured: 0.5 KiB optimised, 1 KiB unoptimised.
const PARSE_CHAIN_BYTES: usize = if cfg!(debug_assertions) { 2 * KIB } else { KIB };
/// Stack size for one level of an evaluated tree. Measured: 4 KiB optimised, 60 KiB unoptimised.
const EVALUATE_LEVEL_BYTES: usize = if cfg!(debug_assertions) { 96 * KIB } else { 8 * KIB };

/// Returns the stack size in bytes that parsing this text may need.
pub(crate) fn parse_stack_bytes(text: &str) -> usize {
    let mut open = 0usize;
    let mut deepest = 0;
    // Brackets inside string literals are counted too, which only makes the estimate larger.
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    // The parser stops soon after the depth limit, so deeper nesting needs no more stack.
    deepest.min(MAX_DEPTH + 16) * PARSE_LEVEL_BYTES + text.len() * PARSE_CHAIN_BYTES
}

/// Returns the stack size in bytes that evaluating a tree of this depth may need.
pub(crate) fn evaluation_stack_bytes(depth: usize) -> usize {
    depth * EVALUATE_LEVEL_BYTES
}

/// Runs `work` with at least `need` bytes of stack. A panic becomes an error; the process's panic hook still
/// prints it.
pub(crate) fn with_stack<T: Send>(need: usize, work: impl FnOnce() -> T + Send) -> Result<T, WhenError> {
    let contained = || {
        catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
            let message = payload.downcast_ref::<&str>().copied();
            let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            WhenError::Panicked(one_line(message.unwrap_or("no message")))
        })
    };
    if need <= SPARE_STACK_BYTES {
        return contained();
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("when".to_owned()).stack_size(need + SPARE_STACK_BYTES);
        let worker = builder.spawn_scoped(scope, contained).map_err(|error| {
            WhenError::Failed(format!("cannot start a thread for a deep condition: {error}"))
        })?;
        worker.join().unwrap_or_else(|_| Err(WhenError::Panicked("no message".to_owned())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_or_without_a_thread() {
        for need in [0, SPARE_STACK_BYTES + 1] {
            let panicked = with_stack(need, || panic!("Of its own\naccord"));
            assert_eq!(panicked, Err::<(), _>(WhenError::Panicked("of its own accord".to_owned())));
            assert_eq!(with_stack(need, || 7), Ok(7));
        }
    }

    #[test]
    fn a_release_build_evaluates_every_allowed_depth_in_place() {
        assert!(cfg!(debug_assertions) || evaluation_stack_bytes(MAX_DEPTH) <= SPARE_STACK_BYTES);
    }
}
