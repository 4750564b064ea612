"""A command of the program as a child of the page's server: it ends when the server ends, however that came.

`python -m sim.ui.child WORDS` is `python -m sim WORDS`, with three things on top. Standard input is a pipe
that the server holds open and never writes to: when it closes, because the server ended or was killed, this
process stops and takes its worker processes with it. SIGTERM reads as Ctrl-C, so that half-written folders
are taken away. And the command is nice to others, so that the page stays quick while it runs.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import signal
import threading
import time

__all__ = ["main"]

NICENESS = 3
"""Added to the priority of the server's own process."""

GRACE_S = 5.0
"""Time to take half-written files away before the process is ended whatever it does, seconds."""


def main() -> None:
    """Watch the server, then run the command line with the arguments of this process."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a server started in the background ignores it
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    threading.Thread(target=_end_with_server, daemon=True).start()
    runpy.run_module("sim", run_name="__main__", alter_sys=True)


def _end_with_server() -> None:
    """Wait for the end of standard input; by number, for no lock may be held when the command ends."""
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)  # with the worker processes
    os._exit(130)


if __name__ == "__main__":
    main()
