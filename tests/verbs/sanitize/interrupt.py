# SPDX-License-Identifier: BSD-2-Clause
"""interrupt.py SECONDS COMMAND...: at a terminal; Ctrl-C ends it when the time is over."""
import os
import pty
import sys
import time


def main():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    time.sleep(float(sys.argv[1]))
    os.write(terminal, b"\x03")
    said = b""
    try:
        while more := os.read(terminal, 4096):
            said += more
    except OSError:  # the terminal's other end is closed
        pass
    sys.stdout.write(said.decode(errors="replace"))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


sys.exit(main())
