"""Fit the shipped constants anew from the carried published runs and write them to the package.

python benchmarks/fit_constants.py          prints the errors and what moved
python benchmarks/fit_constants.py --write  writes sim/physics/fitted.yaml
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from sim.physics.shipped import fit_shipped, fitted_yaml

TARGET = Path(__file__).parents[1] / "sim" / "physics" / "fitted.yaml"


def main(arguments: list[str]) -> int:
    """Fit, print, and write where asked."""
    found = fit_shipped()
    for name, errors in (("memory", found.memory_errors), ("speed", found.speed_errors)):
        print(f"{name}: {errors.rows} rows, median {errors.median:.1%}, 90th percentile {errors.p90:.1%}")
    text = fitted_yaml(found, datetime.now(UTC).date())
    if "--write" in arguments:
        TARGET.write_text(text, encoding="utf-8", newline="\n")
        print(f"written: {TARGET.name}")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
