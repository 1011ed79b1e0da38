#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Turns coloured terminal output on standard input into an SVG on standard output."""

import html
import re
import sys

COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341"}
CHAR, LINE, MARGIN = 8.4, 19, 16


def spans(line):
    """Splits a line at its escape sequences; yields (style, text)."""
    style = {}
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if not part.startswith("\x1b"):
            if part:
                yield dict(style), part
            continue
        for code in part[2:-1].split(";"):
            if code in ("", "0"):
                style = {}
            elif code == "1":
                style["font-weight"] = "bold"
            elif code == "2":
                style["opacity"] = "0.6"
            elif code in COLOURS:
                style["fill"] = COLOURS[code]


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    width = max(len(line) for line in plain) * CHAR + 2 * MARGIN
    height = len(lines) * LINE + 2 * MARGIN
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="ui-monospace,Menlo,Consolas,monospace" '
        'font-size="14">'
    )
    print(f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/><g fill="#e6edf3">')
    for number, line in enumerate(lines):
        column, y = 0, MARGIN + (number + 0.75) * LINE
        for style, text in spans(line):
            attributes = "".join(f' {key}="{value}"' for key, value in style.items())
            if text.strip():
                # Every span is placed and stretched to its columns, whatever font there is.
                x, length = MARGIN + column * CHAR, len(text) * CHAR
                # `xml:space` on a group does not reach its texts in Chromium, which then collapses blanks.
                print(
                    f'<text xml:space="preserve" x="{x:.1f}" y="{y:.1f}" textLength="{length:.1f}"'
                    f'{attributes}>{html.escape(text)}</text>'
                )
            column += len(text)
    print("</g></svg>")


main()
