"""The router as a script inside the package, for `fleetsim app` where there is no checkout."""

from sim.ui.frame import main

main()
