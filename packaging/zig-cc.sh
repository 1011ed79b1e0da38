#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# zig-cc.sh ARGUMENT...: compiles C for the foreign target in TENTERHOOK_ZIG_TARGET (such as aarch64-linux-musl).
#
# Zig contains a C compiler and the headers of every target; `pip install ziglang` installs all of it. The LLD
# of the Rust toolchain links the program with Rust's own musl, as for the target of this machine.
set -eu
# Rust and Zig spell targets differently, so the caller's `--target` argument is dropped.
for argument in "$@"; do
    shift
    case $argument in
        --target=*) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
if command -v zig >/dev/null 2>&1; then
    exec zig cc -target "$TENTERHOOK_ZIG_TARGET" -fno-sanitize=all "$@"
fi
exec "${PYTHON:-python3}" -m ziglang cc -target "$TENTERHOOK_ZIG_TARGET" -fno-sanitize=all "$@"
