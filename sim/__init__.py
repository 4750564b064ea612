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

from sim.catalog import Catalog, load_catalog
from sim.errors import FleetsimError, InputError, Problem, RunError
from sim.load import Question, dump, json_schema, load, load_text
from sim.model.scenario import Scenario

if TYPE_CHECKING:
    from sim.experiments.compare import compare
    from sim.experiments.comparison import Comparison
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

_LATER = {
    "prepare": "sim.replication",
    "replicate": "sim.replication",
    "Prepared": "sim.replication",
    "RunResult": "sim.replication",
    "compare": "sim.experiments.compare",
    "Comparison": "sim.experiments.comparison",
}
"""Names whose modules load simpy, scipy and pandas: imported when they are first asked for."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        msg = f"module 'sim' has no attribute {name!r}; its names: {', '.join(__all__)}"
        raise AttributeError(msg)
    import importlib

    found = getattr(importlib.import_module(_LATER[name]), name)
    globals()[name] = found
    return found
