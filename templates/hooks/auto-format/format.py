# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Formats the file that was just written, if there is a formatter for it."""

import json
import os
import shutil
import subprocess
import sys

FORMATTERS = {
    ".rs": ["rustfmt", "--edition", "2024"],
    ".py": ["black", "--quiet"],
    ".ts": ["prettier", "--write"],
    ".js": ["prettier", "--write"],
    ".go": ["gofmt", "-w"],
}

event = json.load(sys.stdin)
args = event["tool"].get("args", {})
path = args.get("file_path") or args.get("path") or args.get("absolute_path") or ""
output = event.get("detail", {}).get("tool_output")
failed = isinstance(output, dict) and output.get("success") is False
formatter = FORMATTERS.get(os.path.splitext(path)[1])

if formatter and not failed and shutil.which(formatter[0]) and os.path.isfile(path):
    # An absolute path never starts with a dash, so it is not read as an option.
    done = subprocess.run([*formatter, os.path.abspath(path)], capture_output=True, text=True, timeout=12)
    if done.returncode == 0:
        print(json.dumps({"message": f"{formatter[0]} formatted {os.path.basename(path)}"}))
    else:
        print(json.dumps({"context": f"{formatter[0]} could not format {path}: {done.stderr[:500]}"}))
