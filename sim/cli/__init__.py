"""The command line: one module a command, each of them thin (parse, call, print).

Exit codes: 0 done, 1 a run could not go on, 2 the input is wrong, 130 interrupted. Results go to
stdout, messages and progress to stderr.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from sim.cli.commands import application
from sim.cli.console import complain, prepare_streams, visible
from sim.errors import FleetsimError

__all__ = ["main"]

INTERRUPTED = 130

KEPT = "Runs that were finished before are kept, and a new start goes on from there"

NO_MEMORY = (
    f"this machine has not enough memory for this; try --jobs 1, a shorter horizon or fewer jobs. {KEPT}"
)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line with these arguments (default: those of the process) and exit."""
    prepare_streams()
    try:
        application()(args=arguments, prog_name="fleetsim")
    except FleetsimError as error:
        complain(str(error))
        sys.exit(error.exit_code)
    except MemoryError:
        complain(NO_MEMORY)
        sys.exit(FleetsimError.exit_code)
    except OSError as error:
        place = "" if error.filename is None else f": {error.filename}"
        # Plainly: what `complain` needs might not be had for the same reason, such as too many open files.
        sys.stderr.write(visible(f"Error: the system refuses: {error.strerror or error}{place}. {KEPT}\n"))
        sys.exit(FleetsimError.exit_code)
    except SystemExit as ending:
        if ending.code == INTERRUPTED:
            complain("interrupted; nothing more was written", label="Stopped")
        raise
    sys.exit(0)
