#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# seed.sh
#
# Writes the commands of the tuning corpora as the first inputs of the target `shell`. Needs jq. The held-out
# corpus is never read.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/shell
cat ../../tests/corpus/tuning*.jsonl | jq -r '.command | @base64' | {
    number=0
    while read -r line; do
        printf %s "$line" | base64 -d >"corpus/shell/seed-$number"
        number=$((number + 1))
    done
}
