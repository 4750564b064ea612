"""What is here to measure on: the card, its name in the rows, and the libraries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata

from pydantic import ValidationError

from sim.errors import InputError, Problem, RunError
from sim.measure.case import Case
from sim.measure.outcome import Device
from sim.measure.process import PROBE, ask_worker
from sim.model.base import Strict

__all__ = ["CPU", "CUDA", "Card", "Found", "find_card", "missing_packages", "readable_name"]

CUDA: Device = "cuda"
CPU: Device = "cpu"

EXTRA = "pip install 'fleetsim[measure]'"
"""What brings the libraries."""

NEEDED = {"torch": (2, 6), "transformers": (5, 0), "peft": (0, 18)}
"""Library -> the oldest version; transformers 4 would take other arguments and another loss."""

ROOM_FOR_OTHERS_GIB = 1.5
"""Memory of a card that may be in use with nothing on it but us, GiB: bookkeeping and a CUDA context."""

_FULL_NAMES = {
    "H100 80GB HBM3": "H100-SXM5-80GB",
    "H100 PCIe": "H100-PCIe-80GB",
    "H200": "H200-SXM-141GB",
    "A10": "A10-24GB",
    "A10G": "A10G-24GB",
    "L4": "L4-24GB",
    "L40S": "L40S-48GB",
    "T4": "T4-16GB",
    "RTX A6000": "RTX A6000-48GB",
}
"""Names of cards as the published rows write them, where torch says less or other."""


class Found(Strict):
    """What the worker finds on this machine."""

    cuda: bool
    """Whether torch has a CUDA card."""
    name: str = ""
    """The card in torch's words; without one, the processor."""
    memory_gib: float | None = None
    """All memory of the card, GiB."""
    taken_gib: float | None = None
    """The part of it in use while nothing is measured yet, our own CUDA context included, GiB."""
    driver: str = ""
    torch: str = ""
    """Version of torch, which says how it was built."""


@dataclass(frozen=True, slots=True)
class Card:
    """Where the rows are measured."""

    label: str
    """Name in the column `gpu`."""
    description: str
    """Name in torch's words, memory and driver, for the notes."""
    is_gpu: bool = True
    taken_gib: float = 0.0
    """Memory in use while nothing is measured yet, GiB."""

    @property
    def mem_kind(self) -> str:
        """How a peak is counted here."""
        return "reserved(max)" if self.is_gpu else "cpu(rss)"

    @property
    def is_shared(self) -> bool:
        """Whether so much is in use that others must be at work on the card, whom the rows would feel."""
        return self.taken_gib > ROOM_FOR_OTHERS_GIB


def missing_packages(
    cases: Iterable[Case], version_of: Callable[[str], str | None] | None = None
) -> InputError | None:
    """An error that says what to install for these cases; None where all is there and new enough.

    `version_of` gives the version of a library, None where it is missing; default: what is installed.
    """
    version_of = version_of or _version_of
    wanting = []
    for name, oldest in NEEDED.items():
        version = version_of(name)
        if version is None:
            wanting.append(f"{name} (not installed here)")
        elif _numbers(version) < oldest:
            wanting.append(f"{name} {'.'.join(map(str, oldest))} or newer (here: {version})")
    if wanting:
        return InputError(Problem(f"measuring needs {', '.join(wanting)}; install with: {EXTRA}"))
    if any(case.quantised for case in cases) and version_of("bitsandbytes") is None:
        rule = (
            "cases with a 4- or 8-bit base need bitsandbytes, which fleetsim[measure] leaves out; "
            "install with: pip install bitsandbytes, or leave qlora4 and qlora8 out"
        )
        return InputError(Problem(rule))
    return None


def _version_of(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    """The first two numbers of a version: 2.13.0+cpu is (2, 13)."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def find_card(device: Device, label: str | None, ask: Callable[[], Found] | None = None) -> Card:
    """The card that is measured. `label` is its name in the rows; None: from torch's name.

    Raises InputError where a card is asked for and there is none, RunError where torch does not start.
    """
    found = (ask or _ask)()
    if device == CPU:
        return Card(label or "CPU", f"measured on a CPU ({found.name or 'unknown'}), not on a card", False)
    if not found.cuda:
        rule = (
            f"there is no CUDA card here that torch ({found.torch}) can use; run this on the machine with "
            "the card, or try the command with --device cpu, whose rows say nothing of a card"
        )
        raise InputError(Problem(rule, key="--device", value=device))
    memory = "" if found.memory_gib is None else f" {found.memory_gib:.1f} GiB"
    description = f"{found.name}{memory}, driver {found.driver or 'unknown'}"
    return Card(label or readable_name(found.name), description, True, found.taken_gib or 0.0)


def readable_name(name: str) -> str:
    """A card's name without its makers' words, as the published rows write it.

    >>> readable_name("NVIDIA A100-SXM4-80GB"), readable_name("NVIDIA GeForce RTX 4090")
    ('A100-SXM4-80GB', 'RTX 4090')
    """
    plain = re.sub(r"\b(NVIDIA|Tesla|GeForce|AMD|Instinct|Radeon)\b", " ", name)
    plain = " ".join(plain.split())
    return _FULL_NAMES.get(plain, plain)


def _ask() -> Found:
    answer, words = ask_worker(PROBE)
    if answer is None:
        msg = f"torch does not start here: the process {words}"
        raise RunError(msg)
    try:
        return Found.model_validate_json(answer)
    except ValidationError as error:
        msg = f"what torch says of this machine cannot be read: {error.errors()[0]['msg']}"
        raise RunError(msg) from None
