#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# dist.sh [OUT]: builds the program for each target and makes every package of a release in OUT [default: target/packages].
#
#   DIST_TARGETS             Rust targets [default: the musl target of this processor if it is installed, else a static
#                            glibc build; also the musl target of the other processor if Zig is installed]
#   DIST_PROGRAMS            programs that are built already, here or on another machine: TARGET=FILE, separated by
#                            blanks. The build/ directory of each program must be next to the program
#   TENTERHOOK_SIGNING_KEY   file with the minisign secret key, its public key beside it as .pub. Without it a
#                            temporary key is created: fine for tests, worthless for users
#   TENTERHOOK_RELEASE_URL   where releases are published
set -eu

repository=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$repository"
target_dir=${CARGO_TARGET_DIR:-$repository/target}
case $target_dir in /*) ;; *) target_dir=$repository/$target_dir ;; esac
out=${1:-$target_dir/packages}
architecture=$(uname -m)

say() { printf 'dist: %s\n' "$*"; }

if [ -z "${DIST_TARGETS:-}" ]; then
    musl=$architecture-unknown-linux-musl
    if [ -d "$(rustc --print sysroot)/lib/rustlib/$musl" ] && command -v musl-gcc >/dev/null 2>&1; then
        DIST_TARGETS=$musl
    else
        DIST_TARGETS=$architecture-unknown-linux-gnu
        say "target $musl or musl-gcc is missing: building a static program with glibc"
        say "  rustup target add $musl; apt install musl-tools"
    fi
    for musl in x86_64-unknown-linux-musl aarch64-unknown-linux-musl; do
        case $musl in "$architecture"-*) continue ;; esac
        if [ -d "$(rustc --print sysroot)/lib/rustlib/$musl" ] &&
            { command -v zig || python3 -m ziglang version; } >/dev/null 2>&1; then
            DIST_TARGETS="$DIST_TARGETS $musl"
        else
            say "target $musl or Zig is missing: no packages for it (rustup target add $musl; pip install ziglang)"
        fi
    done
fi

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
TENTERHOOK_COMMIT=${TENTERHOOK_COMMIT:-$(git rev-parse HEAD)}
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
    TENTERHOOK_COMMIT=$TENTERHOOK_COMMIT-dirty
    say "the checkout has changes that are not committed"
fi
TENTERHOOK_RELEASE_URL=${TENTERHOOK_RELEASE_URL:-https://github.com/tenterhook/tenterhook/releases}
kind=
if [ -z "${TENTERHOOK_SIGNING_KEY:-}" ]; then
    TENTERHOOK_SIGNING_KEY=$target_dir/dist-key/throw-away.key
    kind=--throw-away-key
    say "TENTERHOOK_SIGNING_KEY is not set: signing with a THROW-AWAY key ($TENTERHOOK_SIGNING_KEY)"
fi
public=$(python3 packaging/assemble key "$TENTERHOOK_SIGNING_KEY")
export SOURCE_DATE_EPOCH TENTERHOOK_COMMIT

# caveat TARGET PROGRAM: prints how far a program for another processor could be tested.
caveat() {
    processor=${1%%-*}
    if [ "$processor" = "$architecture" ]; then return; fi
    for emulator in "qemu-$processor-static" "qemu-$processor"; do
        command -v "$emulator" >/dev/null 2>&1 || continue
        home=$(mktemp -d)
        if env -i HOME="$home" "$emulator" "$2" --version >/dev/null &&
            env -i HOME="$home" "$emulator" "$2" judge --shell 'rm -rf ~/' --json | grep -q deny; then
            echo "run only in an emulator ($emulator: --version, judge)"
        else
            say "$2 does not work in an emulator ($emulator)" >&2
            return 1
        fi
        rm -rf "$home"
        return
    done
    echo "NOT RUN"
}

programs=
set --
for target in $DIST_TARGETS; do
    program=
    for built in ${DIST_PROGRAMS:-}; do
        case $built in "$target="*) program=${built#*=} ;; esac
    done
    if [ -z "$program" ]; then
        say "building for $target"
        TENTERHOOK_RELEASE_KEY=$public TENTERHOOK_RELEASE_URL=$TENTERHOOK_RELEASE_URL/latest/download \
            sh packaging/build.sh "$target"
        program=$target_dir/$target/dist/tenterhook
    fi
    if [ -f "$(dirname "$program")/tenterhook-fleet" ]; then
        programs="$programs --fleet-program $target=$(dirname "$program")/tenterhook-fleet"
    else
        say "$target: tenterhook-fleet is not next to $program, so there are no packages for fleets"
    fi
    programs="$programs --program $target=$program"
    caveat=$(caveat "$target" "$program")
    if [ -n "$caveat" ]; then
        say "$target: $caveat"
        set -- "$@" --caveat "$target=$caveat"
    fi
done

pack=
if command -v npm >/dev/null 2>&1; then
    make --no-print-directory sdk/typescript/node_modules
    rm -rf "$target_dir/dist-npm"
    mkdir -p "$target_dir/dist-npm"
    (cd sdk/typescript && npm pack --silent --pack-destination "$target_dir/dist-npm") >/dev/null
    pack="--npm-pack $(echo "$target_dir"/dist-npm/*.tgz)"
else
    say "npm is missing: the package \`tenterhook\` for npm is left out"
fi

# shellcheck disable=SC2086 # the lists are words, and cargo's target directory has no blanks in its name
python3 packaging/assemble release --out "$out" $programs $pack --key "$TENTERHOOK_SIGNING_KEY" $kind \
    --epoch "$SOURCE_DATE_EPOCH" --commit "$TENTERHOOK_COMMIT" --url "$TENTERHOOK_RELEASE_URL" "$@"
cat "$out/TARGETS.txt"
