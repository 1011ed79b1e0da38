#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# linker.sh ARGUMENT...: links with `cc` and the LLD of the Rust toolchain, for Linux on this machine's processor.
#
# Rust ships LLD. GNU ld would work too, but it merges fewer equal functions and strings. The path of the
# toolchain is found here and not in the compiler's flags, because flags become part of the symbols' names.
# Relative relocations are packed (RELR): one bit each instead of 24 bytes.
set -eu
toolchain=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/gcc-ld
if [ -x "$toolchain/ld.lld" ]; then
    exec cc "$@" "-B$toolchain" -fuse-ld=lld -Wl,-z,pack-relative-relocs
fi
exec cc "$@" -Wl,-z,pack-relative-relocs
