"""The worker: `python -m sim.measure.worker VERB ANSWER.json [ORDER.json]`, started by `process`.

The only program that imports torch. Exit code 0: the answer is written; anything else: it is not, and
what went wrong stands on stderr.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from sim.measure.machine import Found
from sim.measure.outcome import Done, Order, OutOfMemory
from sim.measure.process import CASE, PROBE
from sim.units import GIB

__all__ = ["is_out_of_memory", "main"]

FULL_CARD = (
    "out of memory",
    "cublas_status_alloc_failed",
    "cudnn_status_alloc_failed",
    "can't allocate memory",
    "not enough memory",
)
"""What errors say that mean a full card, in small letters; some libraries raise no class of their own."""


def main(arguments: Sequence[str]) -> int:
    """Do what the verb says and write the answer; returns the exit code."""
    verb, answer, *order = arguments
    if verb == PROBE:
        text = _probe().model_dump_json()
    elif verb == CASE:
        text = _case(Order.model_validate_json(Path(order[0]).read_bytes())).model_dump_json()
    else:
        return 2
    Path(answer).write_text(text, encoding="utf-8")
    return 0


def _case(order: Order) -> Done | OutOfMemory:
    from sim.measure.training import train

    try:
        return train(order)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        return OutOfMemory(message=str(error).split("\n", 1)[0] or type(error).__name__)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that the memory is full; torch's own class is a RuntimeError too."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or any(sign in words for sign in FULL_CARD)


def _probe() -> Found:
    import torch

    if not torch.cuda.is_available():
        return Found(cuda=False, name=platform.processor() or platform.machine(), torch=torch.__version__)
    free, total = torch.cuda.mem_get_info(0)
    return Found(
        cuda=True,
        name=torch.cuda.get_device_name(0),
        memory_gib=total / GIB,
        taken_gib=(total - free) / GIB,
        driver=_driver(),
        torch=torch.__version__,
    )


def _driver() -> str:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    question = [program, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(question, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = done.stdout.split() if done.returncode == 0 else []
    return lines[0] if lines else ""


def _end_with_parent() -> None:
    # The other end of our standard input is the parent: end of file means that it is gone. Read without
    # Python's buffer, whose lock would be in the way when this process ends by itself.
    os.read(0, 1)
    os._exit(3)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.exit(main(sys.argv[1:]))
