#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Writes the fonts in src/fonts again: subsets of Inter and JetBrains Mono with the characters that the dashboard
# shows most. Other characters come from a font of the system. Needs Python, npm and the network.
set -eu
target="$(cd "$(dirname "$0")/../src/fonts" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q install fonttools brotli
cd "$work"
npm pack --silent @fontsource-variable/inter@5.3.0 @fontsource-variable/jetbrains-mono@5.3.0 >/dev/null
letters="U+20-7E,U+A0,U+B1,U+B5,U+B7,U+C4,U+D6,U+D7,U+DC,U+DF,U+E4,U+E9,U+F6,U+FC"
signs="U+2013,U+2014,U+2018-201D,U+2022,U+2026,U+2190-2193,U+2212,U+2318"

subset() { # NAME WEIGHTS FEATURES
    tar xzf "fontsource-variable-$1-5.3.0.tgz"
    "$work/venv/bin/fonttools" varLib.instancer -q -o "$1.woff2" "package/files/$1-latin-wght-normal.woff2" "wght=$2"
    "$work/venv/bin/pyftsubset" "$1.woff2" --unicodes="$letters,$signs" --flavor=woff2 --layout-features="$3" \
        --output-file="$target/$1.woff2"
    cp package/LICENSE "$target/OFL-$1.txt"
    rm -r package
}
subset inter 400:650 kern,liga,tnum,calt,ccmp,locl,mark
subset jetbrains-mono 400:600 kern,ccmp,mark
