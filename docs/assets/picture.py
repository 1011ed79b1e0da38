#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes the README's pictures from a real run of the demo: picture.py PROGRAM DIRECTORY

Writes demo-light.svg and demo-dark.svg. They show one denial with its reason and suggestion, and what the agent
does next. Each line is one <text> whose parts follow each other, so that no font can pull words together or apart.
"""

import fcntl
import html
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import termios

# The act to show: from the first of these lines up to, but not including, the last.
FIRST, LAST = "● Now I clean up.", "● I publish the fix."
COLUMNS, ROWS = 100, 24
FONT_SIZE, LINE_HEIGHT, MARGIN = 14, 20, 18
# Widest advance of the fonts below, in parts of the font size.
ADVANCE = 0.61
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")
THEMES = {
    "light": {
        "background": "#ffffff",
        "border": "#d1d9e0",
        "text": "#1f2328",
        "dim": "#59636e",
        "31": "#c41624",
        "32": "#116329",
        "33": "#7d4e00",
    },
    "dark": {
        "background": "#0d1117",
        "border": "#3d444d",
        "text": "#f0f6fc",
        "dim": "#9198a1",
        "31": "#ff7b72",
        "32": "#7ee787",
        "33": "#e3b341",
    },
}


def run_demo(program):
    """The coloured output of `demo --fast` on a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TERM": "xterm-256color"}
    demo = subprocess.Popen(
        [program, "--color", "always", "demo", "--fast"],
        stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=environment,
    )
    os.close(slave)
    output = b""
    while True:
        try:
            read = os.read(master, 65536)
        except OSError:  # The other end is closed.
            break
        if not read:
            break
        output += read
    if demo.wait() != 0:
        sys.exit(f"the demo failed:\n{output.decode()}")
    return output.decode().replace("\r\n", "\n")


def act(output):
    """The lines of the act, without empty lines at its end."""
    lines = output.split("\n")
    plain = [ESCAPE.sub("", line).rstrip() for line in lines]
    if FIRST not in plain or LAST not in plain:
        sys.exit(f"`{FIRST}` or `{LAST}` is not in the demo's output:\n{output}")
    lines = lines[plain.index(FIRST) : plain.index(LAST)]
    while lines and not ESCAPE.sub("", lines[-1]).strip():
        lines.pop()
    return lines


def spans(line):
    """Splits a line at its escape sequences: yields (colour, is_bold, text)."""
    colour, bold = "text", False
    at = 0
    for escape in [*ESCAPE.finditer(line), None]:
        text = line[at : escape.start() if escape else len(line)]
        if text:
            yield colour, bold, text
        if escape is None:
            return
        at = escape.end()
        for code in escape.group(1).split(";"):
            if code in ("", "0"):
                colour, bold = "text", False
            elif code == "1":
                bold = True
            elif code == "2":
                colour = "dim"
            elif code in THEMES["light"]:
                colour = code


def svg(lines, theme):
    columns = max(len(ESCAPE.sub("", line)) for line in lines)
    width = round(columns * FONT_SIZE * ADVANCE + 2 * MARGIN)
    height = len(lines) * LINE_HEIGHT + 2 * MARGIN
    plain = "\n".join(ESCAPE.sub("", line).strip() for line in lines)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
    yield f"<title>{html.escape(plain)}</title>"
    yield (
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" '
        f'fill="{theme["background"]}" stroke="{theme["border"]}"/>'
    )
    yield f'<g font-family="{FONTS}" font-size="{FONT_SIZE}" fill="{theme["text"]}">'
    for number, line in enumerate(lines):
        y = MARGIN + number * LINE_HEIGHT + round(LINE_HEIGHT * 0.72)
        parts = ""
        for colour, bold, text in spans(line):
            attributes = "" if colour == "text" else f' fill="{theme[colour]}"'
            attributes += ' font-weight="bold"' if bold else ""
            text = html.escape(text, quote=False)
            parts += f"<tspan{attributes}>{text}</tspan>" if attributes else text
        if parts:
            # Chromium does not inherit `xml:space` from a group.
            yield f'<text xml:space="preserve" x="{MARGIN}" y="{y}">{parts}</text>'
    yield "</g>"
    yield "</svg>"


def main():
    program, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    lines = act(run_demo(os.path.abspath(program)))
    for name, theme in THEMES.items():
        (directory / f"demo-{name}.svg").write_text("\n".join(svg(lines, theme)) + "\n", encoding="utf-8")


main()
