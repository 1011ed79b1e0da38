#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Installs Tenterhook @VERSION@ below a prefix, without root. Everything is downloaded and verified before the
# first file is written. The function main is called on the last line, so a partially downloaded script does
# nothing.
set -eu

PUBLIC_KEY='@PUBLIC_KEY@'
KEY_KIND='@KEY_KIND@'
RELEASES='@URL@'
work=

usage() {
    cat <<'HELP'
Installs the tenterhook program, its manual page and shell completions.

usage: install.sh [options]

  --prefix DIR      install below DIR [default: ~/.local, so the program is ~/.local/bin/tenterhook]
  --version V       install version V [default: the newest]
  --from DIR|URL    read the files of a release from a directory, a file: URL or an https address
  --uninstall       remove the files that were installed below the prefix
  --help            print this

The signature of the release is verified with minisign, else with OpenSSL 3. If neither is installed, only the
SHA-256 sums are compared, and a warning says so.

A downgrade is refused. After an upgrade, installed hooks and a running daemon are brought to the new version; restarting
the daemon asks you to type `restart`.

`tenterhook uninstall --all` removes hooks from your agents; run it before --uninstall.
HELP
}

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    shift
    for hint in "$@"; do printf 'hint: %s\n' "$hint" >&2; done
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# fetch NAME: copies one file of the release into the work directory.
fetch() {
    case $base in
        https://* | http://127.0.0.1:* | http://localhost:*)
            if have curl; then
                curl --proto '=https,http' --fail --silent --show-error --location --output "$work/$1" "$base/$1"
            elif have wget; then
                wget -q -O "$work/$1" "$base/$1"
            else
                fail "neither curl nor wget is installed" "download the release and use --from DIR"
            fi || fail "$base/$1 could not be downloaded"
            ;;
        http://*) fail "refusing to download over plain HTTP: $base" ;;
        *) cp "$base/$1" "$work/$1" || fail "$base/$1 could not be read" ;;
    esac
}

sha256() {
    if have sha256sum; then sha256sum "$1"; elif have shasum; then shasum -a 256 "$1"; else openssl dgst -sha256 -r "$1"; fi |
        cut -d ' ' -f 1
}

# verify_with_openssl FILE: checks FILE.minisig as minisign does: Ed25519 over the BLAKE2b hash, and over the comment.
verify_with_openssl() {
    dir=$work/openssl
    mkdir -p "$dir"
    printf '%s' "$PUBLIC_KEY" | openssl base64 -d -A >"$dir/key"
    sed -n 2p "$1.minisig" | openssl base64 -d -A >"$dir/signature"
    sed -n 4p "$1.minisig" | openssl base64 -d -A >"$dir/comment.sig"
    [ "$(wc -c <"$dir/key")" -eq 42 ] && [ "$(wc -c <"$dir/signature")" -eq 74 ] || return 1
    [ "$(head -c 2 "$dir/signature")" = ED ] || return 1
    head -c 10 "$dir/key" | tail -c 8 >"$dir/key.id"
    head -c 10 "$dir/signature" | tail -c 8 >"$dir/signature.id"
    cmp -s "$dir/key.id" "$dir/signature.id" || return 1
    tail -c 64 "$dir/signature" >"$dir/file.sig"
    { printf '\060\052\060\005\006\003\053\145\160\003\041\000'; tail -c 32 "$dir/key"; } >"$dir/key.der"
    openssl dgst -blake2b512 -binary "$1" >"$dir/file.hash" || return 1
    { cat "$dir/file.sig"; sed -n 3p "$1.minisig" | sed 's/^trusted comment: //' | tr -d '\n'; } >"$dir/comment"
    for part in file.hash:file.sig comment:comment.sig; do
        openssl pkeyutl -verify -pubin -keyform DER -inkey "$dir/key.der" -rawin \
            -in "$dir/${part%%:*}" -sigfile "$dir/${part##*:}" >/dev/null 2>&1 || return 1
    done
}

verify_signature() {
    if have minisign; then
        minisign -V -q -P "$PUBLIC_KEY" -m "$1" || fail "the signature of the release does not match: nothing was installed"
        how="signature verified with minisign"
    elif openssl version 2>/dev/null | grep -q '^OpenSSL [3-9]'; then
        verify_with_openssl "$1" || fail "the signature of the release does not match: nothing was installed"
        how="signature verified with OpenSSL"
    else
        how="SHA-256 only, signature NOT verified"
        cat >&2 <<'WARNING'
************************************************************************
WARNING: the signature of this release was NOT verified, because neither
minisign nor OpenSSL 3 is installed. Only the SHA-256 sums are compared;
they come from the same place as the files, so they reveal a damaged
download and not a forged one.
************************************************************************
WARNING
    fi
    if [ "$KEY_KIND" = throw-away ]; then
        echo "note: this build is signed with a throw-away key; it is not an official release" >&2
    fi
}

listed_hash() { sed -n "s/^\([0-9a-f]\{64\}\)  $1\$/\1/p" "$work/SHA256SUMS"; }

# Finds the archive for this machine in SHA256SUMS. Prefers the archive compressed with xz, which is smaller.
find_archive() {
    system=$(uname -s)
    machine=$(uname -m)
    case $machine in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
    esac
    case $system in
        Linux) targets="$machine-unknown-linux-musl $machine-unknown-linux-gnu" ;;
        Darwin) targets="$machine-apple-darwin" ;;
        *) fail "$system is not supported" "on Windows, install it inside WSL 2" ;;
    esac
    compressions=gz
    if have xz; then compressions="xz gz"; fi
    for target in $targets; do
        for compression in $compressions; do
            archive=$(sed -n "s/^[0-9a-f]\{64\}  \(tenterhook-.*-$target\.tar\.$compression\)\$/\1/p" "$work/SHA256SUMS" | head -n 1)
            if [ -n "$archive" ]; then return; fi
        done
    done
    fail "this release has no build for $system on $machine" "build it from source: @HOMEPAGE@"
}

# unpack ARCHIVE: unpacks it into the work directory, below the archive's name.
unpack() {
    case $1 in
        *.xz) xz -d -c "$work/$1" ;;
        *) gzip -d -c "$work/$1" ;;
    esac | tar -x -f - -C "$work"
    root=$work/${1%.tar.*}
    [ -x "$root/bin/tenterhook" ] || fail "$1 could not be unpacked: nothing was installed"
}

uninstall() {
    receipt=$prefix/share/tenterhook/installed-files
    [ -f "$receipt" ] || fail "nothing was installed below $prefix by this script"
    while IFS= read -r name; do
        case $name in
            bin/* | share/*) rm -f "$prefix/$name" ;;
        esac
    done <"$receipt"
    rm -f "$receipt"
    for dir in share/tenterhook share/doc/tenterhook; do rmdir "$prefix/$dir" 2>/dev/null || true; done
    echo "removed tenterhook from $prefix"
}

place() {
    (cd "$root" && find . -type f | sed 's|^\./||' | sort) >"$work/files"
    while IFS= read -r name; do
        mkdir -p "$prefix/$(dirname "$name")"
        cp "$root/$name" "$prefix/$name.new.$$"
        case $name in bin/*) chmod 755 "$prefix/$name.new.$$" ;; *) chmod 644 "$prefix/$name.new.$$" ;; esac
        mv -f "$prefix/$name.new.$$" "$prefix/$name"
    done <"$work/files"
    cp "$work/files" "$prefix/share/tenterhook/installed-files"
}

main() {
    prefix=${HOME:-}/.local
    version=
    from=${TENTERHOOK_RELEASES:-}
    action=install
    while [ $# -gt 0 ]; do
        case $1 in
            --prefix | --version | --from)
                [ $# -ge 2 ] || fail "$1 needs a value"
                case $1 in --prefix) prefix=$2 ;; --version) version=${2#v} ;; --from) from=$2 ;; esac
                shift 2
                ;;
            --uninstall) action=uninstall; shift ;;
            --help | -h) usage; exit 0 ;;
            *) fail "unknown option $1" "install.sh --help lists the options" ;;
        esac
    done
    case $prefix in
        /.local) fail "HOME is not set" "use --prefix DIR" ;;
        /*) ;;
        *) prefix=$(pwd)/$prefix ;;
    esac
    if [ "$action" = uninstall ]; then
        uninstall
        return
    fi
    if [ -n "$from" ]; then base=${from#file://}; elif [ -n "$version" ]; then base=$RELEASES/download/v$version; else base=$RELEASES/latest/download; fi
    base=${base%/}
    work=$(mktemp -d "${TMPDIR:-/tmp}/tenterhook-install.XXXXXX")
    trap 'rm -rf "$work"' EXIT

    fetch SHA256SUMS
    fetch SHA256SUMS.minisig
    verify_signature "$work/SHA256SUMS"
    find_archive
    if [ -n "$version" ]; then
        case $archive in "tenterhook-$version-"*) ;; *) fail "this release is not version $version: $archive" ;; esac
    fi
    fetch "$archive"
    [ "$(sha256 "$work/$archive")" = "$(listed_hash "$archive")" ] || fail "$archive differs from the release: nothing was installed"
    unpack "$archive"
    "$root/bin/tenterhook" --version >/dev/null || fail "the program does not run on this machine: nothing was installed"
    # Without a home directory, there is no existing state that might be too new for this release.
    [ -z "${HOME:-}" ] || "$root/bin/tenterhook" self refresh --check >/dev/null ||
        fail "this release cannot replace what is installed: nothing was changed"
    is_upgrade=
    if [ -e "$prefix/bin/tenterhook" ]; then is_upgrade=yes; fi
    place
    echo "installed $("$prefix/bin/tenterhook" --version) as $prefix/bin/tenterhook ($how)"
    if [ -n "$is_upgrade" ]; then
        "$prefix/bin/tenterhook" self refresh || echo "note: hooks and daemon are still old: run \`tenterhook self refresh\`" >&2
    fi
    case :${PATH:-}: in
        *":$prefix/bin:"*) echo "next: tenterhook init" ;;
        *) echo "next: $prefix/bin/tenterhook init    (it also offers to add $prefix/bin to your PATH)" ;;
    esac
}

main "$@"
