# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Shows a notification on the desktop."""

import json
import os
import shutil
import subprocess
import sys

event = json.load(sys.stdin)
text = event.get("detail", {}).get("message") or event["native_event"]
title = f"{event['source']} in {os.path.basename(event.get('cwd') or '') or 'no folder'}"

if shutil.which("notify-send"):
    subprocess.run(["notify-send", "--", title, text[:200]], check=False, timeout=4)
elif shutil.which("osascript"):
    # The texts are arguments of the script, never part of its code.
    script = "on run {t, m}\ndisplay notification m with title t\nend run"
    subprocess.run(["osascript", "-e", script, title, text[:200]], check=False, timeout=4)
