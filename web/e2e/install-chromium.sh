#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Installs Debian's Chromium if it is missing and can be installed. Prints its path.
set -eu

find_chromium() {
    for program in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
        [ -n "$program" ] && command -v "$program" && return 0
    done
    return 1
}

find_chromium && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >&2
    find_chromium && exit 0
fi
echo "there is no Chromium, and it cannot be installed here: \`sudo apt-get install chromium\`" >&2
exit 1
