# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Leader of the terminal's session, in the place of the user's shell: runs the wrapper as the foreground job, waits, and
then reads what the terminal has as input for the next command.

    launcher.py TERMINAL PID_FILE INPUT_FILE LOG_FILE COMMAND…
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import termios
import time


def main() -> int:
    terminal_path, pid_file, input_file, log_file, *command = sys.argv[1:]
    os.setsid()
    terminal = os.open(terminal_path, os.O_RDWR)
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.signal(signal.SIGTTIN, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(terminal, os.getpid())
        for number in (signal.SIGTTOU, signal.SIGTTIN, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        log = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(terminal, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        if terminal > 2:
            os.close(terminal)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"`{command[0]}`: {error}\n".encode())
            os._exit(127)
    with open(pid_file + ".new", "w") as file:
        file.write(str(child))
    os.rename(pid_file + ".new", pid_file)
    status = os.waitpid(child, 0)[1]
    # Attackers in the background may type a moment later.
    time.sleep(0.05)
    try:
        os.tcsetpgrp(terminal, os.getpid())
    except OSError:
        pass  # An attacker made the terminal the one of its own session.
    os.set_blocking(terminal, False)
    try:
        typed = os.read(terminal, 4096)
    except OSError:
        typed = b""
    with open(input_file, "wb") as file:
        file.write(typed)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
