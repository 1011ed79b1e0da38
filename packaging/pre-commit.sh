#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Entry of the pre-commit hooks: runs `tenterhook` with the given arguments, from the PATH or from node_modules.
set -eu

if command -v tenterhook >/dev/null; then
    exec tenterhook "$@"
elif [ -x node_modules/.bin/tenterhook ]; then
    exec node_modules/.bin/tenterhook "$@"
fi
echo "the program tenterhook is not installed; see docs/guide/install.md of its repository" >&2
exit 1
