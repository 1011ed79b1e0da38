#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# build.sh TARGET: builds the program for one Rust target with the `dist` profile, as <target dir>/TARGET/dist/tenterhook.
#
# The same commit gives the same bytes in every directory: paths are remapped, and everything that is compiled in
# comes from the variables below. A foreign target is built with cargo-zigbuild.
#
#   TENTERHOOK_RELEASE_KEY   public minisign key (base64) that `self verify` and `self update` trust
#   TENTERHOOK_RELEASE_URL   where `self update` looks when nothing else is configured
#   TENTERHOOK_COMMIT        shown by `self info`
#   CARGO, CARGO_TARGET_DIR  as everywhere
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
variable=$(printf '%s' "$target" | tr 'a-z-' 'A-Z_')

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
export CARGO_INCREMENTAL=0 ZERO_AR_DATE=1 LC_ALL=C

# Later prefixes win, so the target directory comes after the repository that usually contains it.
unit=$(printf '\037')
flags="--remap-path-prefix=$cargo_home=/cargo"
flags="$flags$unit--remap-path-prefix=$repository=/tenterhook$unit--remap-path-prefix=$target_dir=/target"
case $target in
    *-linux-gnu) flags="$flags$unit-Ctarget-feature=+crt-static" ;;
esac
export CARGO_ENCODED_RUSTFLAGS="$flags"
c_flags="-ffile-prefix-map=$cargo_home=/cargo -ffile-prefix-map=$repository=/tenterhook -ffile-prefix-map=$target_dir=/target"
eval "export CFLAGS_$(printf '%s' "$target" | tr - _)=\"\$c_flags\""

subcommand=build
case $target in
    "$host") ;;
    x86_64-unknown-linux-musl)
        command -v musl-gcc >/dev/null 2>&1 || {
            echo "build.sh: musl-gcc is missing (Debian: apt install musl-tools)" >&2
            exit 1
        }
        eval "export CARGO_TARGET_${variable}_LINKER=\${CARGO_TARGET_${variable}_LINKER:-cc}"
        ;;
    *)
        "$cargo" zigbuild --version >/dev/null 2>&1 || {
            echo "build.sh: cargo-zigbuild is missing, $target cannot be built here (pip install cargo-zigbuild)" >&2
            exit 1
        }
        subcommand=zigbuild
        ;;
esac
# PACKAGES is for trying single crates.
"$cargo" "$subcommand" --locked --profile dist ${PACKAGES:--p tenterhook} --target "$target"
program=$target_dir/$target/dist/tenterhook
if [ -n "${PACKAGES:-}" ]; then
    exit 0
fi
# Cargo forgets the profile's `strip` for a package that has an opt-level of its own.
strip=${STRIP:-strip}
case $target in
    "$(uname -m)"-*) ;;
    *) strip=${STRIP:-llvm-strip} ;;
esac
if ! "$strip" "$program"; then
    echo "build.sh: $strip could not remove symbols from $program: it is larger than it need be (set STRIP)" >&2
fi
