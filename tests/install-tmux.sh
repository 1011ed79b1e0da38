#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# install-tmux.sh
#
# Installs tmux, in which the terminal view is tested, unless it is there or cannot be installed: then it says
# so, and those tests leave themselves out.
set -u

if command -v tmux >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get install -y --no-install-recommends tmux >/dev/null 2>&1 \
        || { apt-get update && apt-get install -y --no-install-recommends tmux; } >/dev/null 2>&1
fi
command -v tmux >/dev/null 2>&1 || echo "tmux is not installed and could not be: the terminal view is not tested in it" >&2
