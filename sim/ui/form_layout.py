"""What a form shows at once of each model; the other keys come on demand, or where they are stated."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["PRIMARY"]

PRIMARY: Mapping[str, tuple[str, ...]] = {
    "Scenario": ("name", "start", "horizon"),
    "Strategy": ("name", "policy", "placement", "leases", "burst"),
    "Lease": ("offer", "count", "plan", "price", "start", "end"),
    "Burst": ("offer", "max", "rent_when_wait_over", "release_after_idle", "price"),
    "JobClass": (
        "name", "team", "rate", "model", "method", "gpus", "deadline", "samples", "epochs", "profile",
    ),
    "TimedClass": ("name", "team", "rate", "deadline", "profile", "batch_size", "kinds"),
    "TimedKind": ("share", "gpus", "runtime_s"),
    "Workload": ("growth", "classes", "timed", "trace"),
    "Trace": ("file", "runtime_gpu", "scale", "since", "until", "teams"),
    "ContractTerms": ("discounts", "expiry", "payment", "refund", "tax"),
    "Refund": ("rule", "grace_days", "fee"),
    "Stop": ("compute", "disk_per_month"),
    "Reliability": ("profile", "data_disk", "migration", "maintenance", "site", "events"),
    "Migration": ("within", "kept"),
    "Target": ("wait_p95", "on_time", "wait_mean", "refused"),
    "Experiment": ("replications", "seed", "warm_up", "confidence"),
    "Sharing": ("kind", "jobs"),
    "FailureEvent": ("at", "kind", "offer", "machine", "down"),
}  # fmt: skip
"""Model -> its keys that people use most, in the order of the form."""
