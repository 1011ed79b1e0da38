#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# build.sh TARGET: builds the programs for one Rust target with the `dist` profile, as <target dir>/TARGET/dist/tenterhook
# and tenterhook-fleet.
#
# The same commit gives the same bytes in every directory: paths are remapped, and all values that are
# compiled in come from the variables below. C code for another processor is compiled with Zig.
#
#   TENTERHOOK_RELEASE_KEY   public minisign key (base64) that `self verify` and `self update` trust
#   TENTERHOOK_RELEASE_URL   where `self update` looks when nothing else is configured
#   TENTERHOOK_COMMIT        shown by `self info`
#   CARGO, CARGO_TARGET_DIR  cargo program and target directory, as in the Makefile
set -eu

if [ $# -ne 1 ]; then
    echo "usage: build.sh TARGET" >&2
    exit 64
fi
target=$1
cargo=${CARGO:-cargo}
repository=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$repository"
target_dir=${CARGO_TARGET_DIR:-$repository/target}
case $target_dir in /*) ;; *) target_dir=$repository/$target_dir ;; esac
cargo_home=${CARGO_HOME:-$HOME/.cargo}
host=$(rustc -vV | sed -n 's/^host: //p')
upper=$(printf '%s' "$target" | tr 'a-z-' 'A-Z_')
lower=$(printf '%s' "$target" | tr - _)

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
export CARGO_INCREMENTAL=0 ZERO_AR_DATE=1 LC_ALL=C

fail() {
    printf 'build.sh: %s\n' "$1" >&2
    exit 1
}

# If several prefixes match a path, the last one is used. The target directory is usually inside the
# repository, so it comes last.
unit=$(printf '\037')
flags="--remap-path-prefix=$cargo_home=/cargo"
flags="$flags$unit--remap-path-prefix=$repository=/tenterhook$unit--remap-path-prefix=$target_dir=/target"
# No panic unwinds through C code, so unwind tables are left out.
c_flags="-fno-asynchronous-unwind-tables -fno-unwind-tables"
# Leaves out 0.7 MB of AES code for AVX-512. TLS connections to a model or a release server do not need its
# speed.
c_flags="$c_flags -DMY_ASSEMBLER_IS_TOO_OLD_FOR_512AVX"
c_flags="$c_flags -ffile-prefix-map=$cargo_home=/cargo -ffile-prefix-map=$repository=/tenterhook -ffile-prefix-map=$target_dir=/target"

linker=
case $target in
    *-apple-darwin) ;;
    "$(uname -m)"-unknown-linux-musl)
        command -v musl-gcc >/dev/null 2>&1 || fail "musl-gcc is missing (Debian: apt install musl-tools)"
        linker=$repository/packaging/linker.sh
        ;;
    *-unknown-linux-musl)
        command -v zig >/dev/null 2>&1 || "${PYTHON:-python3}" -m ziglang version >/dev/null 2>&1 ||
            fail "Zig is missing, $target cannot be built here (pip install ziglang)"
        TENTERHOOK_ZIG_TARGET=${target%%-*}-linux-musl
        export TENTERHOOK_ZIG_TARGET
        eval "export CC_$lower=\$repository/packaging/zig-cc.sh"
        linker=rust-lld
        flags="$flags$unit-Clink-arg=-zpack-relative-relocs"
        ;;
    "$host")
        # Packed relocations save 1.3 MB of reading at every start. Old C libraries do not support them, but
        # the C library is linked in.
        flags="$flags$unit-Ctarget-feature=+crt-static$unit-Clink-arg=-Wl,-z,pack-relative-relocs"
        ;;
    *) fail "$target cannot be built on $host" ;;
esac
if [ -n "$linker" ]; then
    eval "export CARGO_TARGET_${upper}_LINKER=\${CARGO_TARGET_${upper}_LINKER:-\$linker}"
fi
eval "export CFLAGS_$lower=\$c_flags"
export CARGO_ENCODED_RUSTFLAGS="$flags"
# PACKAGES selects single crates for experiments.
# shellcheck disable=SC2086 # a list of options
"$cargo" build --locked --profile dist ${PACKAGES:--p tenterhook} --target "$target"
# Built alone: otherwise the features that it needs of shared crates would become part of the other program.
if [ -z "${PACKAGES:-}" ]; then
    "$cargo" build --locked --profile dist -p tenterhook-fleet --target "$target"
fi
