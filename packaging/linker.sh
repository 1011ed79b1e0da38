#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# linker.sh ARGUMENT...: links with `cc` and the LLD of the Rust toolchain, for Linux on this machine's processor.
#
# Rust ships LLD. GNU ld would work too, but it merges fewer equal functions and strings. The toolchain's path
# is found here and is not part of the compiler's flags, because flags affect the names of symbols. Relative
# relocations are packed (RELR): each takes one bit instead of 24 bytes.
set -eu
toolchain=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/gcc-ld
if [ -x "$toolchain/ld.lld" ]; then
    exec cc "$@" "-B$toolchain" -fuse-ld=lld -Wl,-z,pack-relative-relocs
fi
exec cc "$@" -Wl,-z,pack-relative-relocs
