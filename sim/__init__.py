"""fleetsim: which rented GPU fleet, under which contracts, gets the jobs done for the least money.

    import sim

    question = sim.load("scenarios/four-to-eight.yaml", ["horizon=30d"])
    comparison = sim.compare(question, replications=10, seed=1)
    print(comparison.recommendation.reason)

    prepared = sim.prepare(question)             # rates and fleets, once
    result = sim.replicate(prepared, 0, 0)       # one run: jobs, log, ledger, metrics

Everything that a caller may rely on is in `__all__`; all errors raised on purpose are `FleetsimError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.catalog import Catalog, load_catalog
    from sim.errors import FleetsimError, InputError, Problem, RunError
    from sim.experiments.compare import compare
    from sim.experiments.comparison import Comparison
    from sim.load import Question, dump, json_schema, load, load_text
    from sim.model.scenario import Scenario
    from sim.replication import Prepared, RunResult, prepare, replicate

__version__ = "0.1.0"

__all__ = [
    # a question
    "load",
    "load_text",
    "dump",
    "json_schema",
    "Question",
    "Scenario",
    # what can be rented
    "load_catalog",
    "Catalog",
    # one run
    "prepare",
    "replicate",
    "Prepared",
    "RunResult",
    # many runs
    "compare",
    "Comparison",
    # errors
    "FleetsimError",
    "InputError",
    "Problem",
    "RunError",
    "__version__",
]

_HOMES = {
    "sim.load": ("load", "load_text", "dump", "json_schema", "Question"),
    "sim.model.scenario": ("Scenario",),
    "sim.catalog": ("load_catalog", "Catalog"),
    "sim.replication": ("prepare", "replicate", "Prepared", "RunResult"),
    "sim.experiments.compare": ("compare",),
    "sim.experiments.comparison": ("Comparison",),
    "sim.errors": ("FleetsimError", "InputError", "Problem", "RunError"),
}
"""Where the public names live. A module is imported when one of its names is first asked for, so that
the command line, which asks for the version alone, does not wait for libraries that it does not use."""


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        msg = f"module 'sim' has no attribute {name!r}; its names: {', '.join(__all__)}"
        raise AttributeError(msg)
    import importlib

    found = getattr(importlib.import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _keep_the_function() -> None:
    """Let `sim.load` be the function whoever imports the module of that name, and whenever.

    Python sets a module as an attribute of its package at the end of its first import, which is after
    this file has run. The documented way to have a say in that is a class of the module's own.
    """
    import sys
    import types

    class Face(types.ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            is_module = name == "load" and isinstance(value, types.ModuleType)
            super().__setattr__(name, vars(value)["load"] if is_module else value)

    sys.modules[__name__].__class__ = Face


_keep_the_function()
