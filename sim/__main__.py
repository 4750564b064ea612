"""`python -m sim` is the command `fleetsim`."""

from __future__ import annotations

from sim.cli import main

if __name__ == "__main__":
    main()
