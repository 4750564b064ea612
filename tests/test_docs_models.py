"""docs/models.md says what the program does: every marked table is held against it.

`python -m tests.test_docs_models` writes the values of the tables anew, after a fit; rows are added by hand.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.catalog.reading import read_yaml
from sim.physics import throughput
from sim.physics.activations import kinds_of, layer_of, layer_peak
from sim.physics.allocated import allocated
from sim.physics.cases import Case, Cases, cases_of
from sim.physics.constants import load_constants
from sim.physics.memory import card_memory
from sim.physics.memory_fit import BEFORE as MEMORY_BEFORE
from sim.physics.recipe import LOSSES, OPTIMIZERS, QUANTISATIONS
from sim.physics.speed_constants import BASIS
from sim.physics.speed_fit import BEFORE as SPEED_BEFORE
from tests.physics_cases import case, columns

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "models.md"
FREE = {
    **{f"memory.{name}": known for name, known in MEMORY_BEFORE.items()},
    **{f"speed.{name}": known for name, known in SPEED_BEFORE.items()},
}
MARK = "<!-- table: {} -->"


# -- Reading the page ----------------------------------------------------------------------------


def cells(line: str) -> list[str]:
    assert line.startswith("| "), line
    assert line.endswith(" |"), line
    return [cell.strip() for cell in line[2:-2].split(" | ")]


def lines_of(text: str, name: str) -> list[str]:
    """Lines of the one table under a mark: head, rule and rows."""
    before = text.split("\n")
    at = [index for index, line in enumerate(before) if line == MARK.format(name)]
    assert len(at) == 1, f"the page has {len(at)} tables named {name}"
    assert before[at[0] + 1] == "", f"an empty line stands between the mark and the table {name}"
    found = []
    for line in before[at[0] + 2 :]:
        if not line:
            break
        found.append(line)
    return found


def table(name: str, text: str | None = None) -> dict[str, dict[str, str]]:
    """Rows of a table by their first cell, each by the heads of its columns."""
    lines = lines_of(PAGE.read_text(encoding="utf-8") if text is None else text, name)
    heads = cells(lines[0])
    assert len(set(heads)) == len(heads) or name == "layer"
    assert re.fullmatch(r"\|(?:-+:?\|)+", lines[1]), lines[1]
    assert lines[1].count("|") == len(heads) + 1
    rows: dict[str, dict[str, str]] = {}
    for line in lines[2:]:
        row = cells(line)
        assert len(row) == len(heads), line
        assert all(row[:2]), f"an empty cell: {line}"
        key = row[0] if name == "layer" else row[0].removeprefix("`").removesuffix("`")
        assert key not in rows, f"{key} stands twice in {name}"
        rows[key] = dict(zip(heads, row, strict=True)) if name != "layer" else dict(enumerate_cells(row))
    return rows


def enumerate_cells(row: list[str]) -> Iterator[tuple[str, str]]:
    return ((str(index), cell) for index, cell in enumerate(row))


# -- What the program says -----------------------------------------------------------------------


def leaves(tree: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, float | str]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from leaves(value, (*path, key))
        else:
            yield ".".join((*path, key)), value


def constants() -> dict[str, float | str]:
    """Every number of the physics, and every card's likeness, by its full key."""
    data = load_constants().model_dump(by_alias=True, exclude={"fit"})
    return dict(leaves(data))


def example() -> Cases:
    """The job of the worked examples."""
    return columns(case())


def worked_memory() -> dict[str, float]:
    parts = card_memory(example(), load_constants().memory).parts(0)
    found = {name: float(getattr(parts, name)) for name in type(parts).__dataclass_fields__}
    return {**found, "total": parts.total_gib}


def worked_speed() -> dict[str, float]:
    cases, speed = example(), load_constants().speed
    blocks, head = throughput.linear_flops(cases)
    rate, _, attends = throughput._rates(cases, speed)
    steps = throughput.step_time(cases, speed)
    found = {
        "linear": blocks / 1e9,
        "head": head / 1e9,
        "attention": throughput.attention_flops(cases) / 1e9,
        "R": rate / 1e12,
        "R_att": attends / 1e12,
        "moved": throughput._activation_bytes(cases, speed),
        "compute": steps.compute,
        "launch": steps.launch,
        "optimizer": steps.optimizer,
        "total": steps.total,
        "tokens/s": steps.tokens_per_s,
    }
    return {name: float(value[0]) for name, value in found.items()}


def shown(value: float | str) -> str:
    """A constant as the page has it: six digits, as `fitted.yaml`."""
    return value if isinstance(value, str) else f"{value:.6g}"


def digits(value: float) -> str:
    """A figure of a worked example: five digits, large ones whole."""
    return f"{value:.0f}" if value >= 1e5 else f"{value:.5g}"


def module_value(name: str) -> float:
    module, _, attribute = name.partition(":")
    return float(getattr(importlib.import_module(module), attribute))


# -- The tables ----------------------------------------------------------------------------------


def test_the_fitted_constants_are_all_there_with_their_values() -> None:
    rows, known = table("fitted"), constants()
    assert set(rows) == set(FREE)
    for name, row in rows.items():
        assert float(row["value"]) == known[name], name
        assert (float(row["before"]), float(row["spread"])) == FREE[name], name
        assert row["unit"], name
        assert row["meaning"], name


def test_every_other_constant_is_among_the_assumed() -> None:
    rows, known = table("assumed"), constants()
    assert set(rows) == set(known) - set(FREE)
    for name, row in rows.items():
        value = known[name]
        assert row["value"] == value if isinstance(value, str) else float(row["value"]) == value, name
        assert row["basis"] in {"assumed", "counted", "data sheet", "line rate", "read off"}, name
        assert row["unit"], name
        assert row["why"], name


def test_the_basis_of_speed_constants_is_that_of_the_program() -> None:
    for name, row in table("assumed").items():
        section, _, key = name.partition(".")
        if section == "speed":
            basis = BASIS[key] if key in BASIS else BASIS[key.partition(".")[0]]
            # What no fit moves and BASIS calls fitted was set from published differences by hand.
            assert row["basis"] == ("read off" if basis == "fitted" else basis), name
    for name in FREE:
        section, _, key = name.partition(".")
        if section == "speed":
            assert BASIS.get(key, BASIS.get(key.partition(".")[0])) == "fitted", name


def test_units_and_assumptions_are_those_of_constants_yaml() -> None:
    place = ROOT / "sim" / "physics" / "constants.yaml"
    rows, checked = table("assumed"), 0

    def compare(tree: Mapping[str, Any], path: tuple[str, ...]) -> None:
        nonlocal checked
        for key, entry in tree.items():
            if "value" not in entry:
                compare(entry, (*path, key))
                continue
            row = rows[".".join((*path, key))]
            assert float(row["value"]) == entry["value"], key
            assert row["unit"] == entry["unit"], key
            assert (row["basis"] == "assumed") == str(entry["source"]).startswith("assumed"), key
            checked += 1

    compare(read_yaml(place.read_text("utf-8"), place.name).data, ())
    assert checked >= 10


def test_numbers_in_the_code_are_as_written() -> None:
    for name, row in table("code").items():
        assert float(row["value"]) == module_value(name), name


@pytest.mark.parametrize(
    ("name", "column", "worked"),
    [("worked memory", "GiB", worked_memory), ("worked speed", "value", worked_speed)],
)
def test_worked_examples_are_what_the_program_says(name, column, worked) -> None:
    rows, known = table(name), worked()
    assert list(rows) == list(known)
    for key, row in rows.items():
        assert row[column] == digits(known[key]), key


def test_the_steps_of_the_memory_example_add_up() -> None:
    cases, gib = example(), 2**30
    parts = allocated(cases)
    text = PAGE.read_text(encoding="utf-8")
    kinds = kinds_of(cases)
    layer = layer_of(cases, kinds)
    peak = layer_peak(cases, kinds, layer, np.full(1, 4.0))
    moment = parts.activations + parts.recomputed + parts.logits + parts.gradients
    assert str(parts.window[0]) == "loss"
    for number in (cases.adapter_params, layer.kept, peak.tokens, moment * gib):
        assert f"= {float(number[0]):.0f}" in re.sub(r" +", " ", text)


LAYERS: dict[str, Case] = {
    "`cast`": case(rank=8),
    "`shared`": case(rank=8),
    "`wide`": case(rank=8),
    "`cast`, q and v alone": case(rank=8, targets="qv"),
    "`cast`, dropout": case(rank=8),
    "`kbit`": case(method="qlora4", rank=8),
    "`pure`": case(method="full"),
    "`master`": case(method="full"),
}
COLUMNS: dict[str, dict[str, Any]] = {
    "`shared`": {"adapter_bytes": 2.0},
    "`wide`": {"autocast": False},
    "`cast`, dropout": {"dropout": True},
    "`master`": {"master": True},
}


def test_the_bytes_of_a_layer_are_those_of_the_table() -> None:
    rows = table("layer")
    assert set(rows) == set(LAYERS)
    for name, row in rows.items():
        cases = cases_of([LAYERS[name]])
        if name in COLUMNS:
            cases = cases.replace(**COLUMNS[name])
        kinds = kinds_of(cases)
        kind = name.removeprefix("`").partition("`")[0]
        assert bool(getattr(kinds, kind)[0]), name
        layer = layer_of(cases, kinds)
        peak = layer_peak(cases, kinds, layer, np.zeros(1))
        sizes = [cases.hidden, cases.intermediate, cases.kv, cases.heads, cases.rank]
        numbers = [float(row[str(column)]) for column in range(1, 11)]
        kept, highest = (
            sum(n * float(size[0]) for n, size in zip(part, sizes, strict=True))
            for part in (numbers[:5], numbers[5:])
        )
        assert kept == layer.kept[0], name
        assert highest == peak.tokens[0], name


@pytest.mark.parametrize("name", list(QUANTISATIONS))
def test_formats_have_their_bytes(name) -> None:
    assert f"| `{name}` | {QUANTISATIONS[name]:.6g} |" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", list(LOSSES))
def test_loss_kernels_have_their_bytes(name) -> None:
    loss = LOSSES[name]
    assert f"| `{name}` | {loss.forward:g} | {loss.backward:g} |" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_optimisers_have_their_bytes(name) -> None:
    optimizer = OPTIMIZERS[name]
    row = rf"^\| [^|]*`{name}`[^|]* \| {optimizer.per_param:g} \| {optimizer.pure:g} \|"
    found = re.findall(row, PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(found) == 1, name


def test_the_page_names_no_place_of_a_machine_and_its_links_lead_somewhere() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(?:work|home|tmp|root|mnt)\b", text)
    titles = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in text.split("\n")
        if line.startswith("#")
    }
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert target[1:] in titles if target.startswith("#") else (PAGE.parent / target).exists(), target


def test_every_module_of_the_page_exists() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.(?:py|yaml|csv))`", text)):
        places = (ROOT / "sim" / "physics" / name, ROOT / name)
        assert any(place.exists() for place in places), name


def test_reading_is_strict() -> None:
    head = f"{MARK.format('fitted')}\n\n| constant | value |\n|---|--:|\n"
    assert table("fitted", f"{head}| `a` | 1 |\n") == {"a": {"constant": "`a`", "value": "1"}}
    for rows in ("| `a` | 1 |\n| `a` | 2 |\n", "| `a` |  |\n", "| `a` | 1 | 2 |\n", "`a` | 1\n"):
        with pytest.raises(AssertionError):
            table("fitted", head + rows)
    with pytest.raises(AssertionError):
        table("fitted", "no table")


# -- Writing the values anew ---------------------------------------------------------------------


def refreshed(text: str) -> str:
    """The page with the values of its tables as the program has them; the rows stay as they are."""
    known = constants()
    values: dict[str, dict[str, str]] = {
        "fitted": {name: shown(value) for name, value in known.items() if name in FREE},
        "assumed": {name: shown(value) for name, value in known.items() if name not in FREE},
        "worked memory": {name: digits(value) for name, value in worked_memory().items()},
        "worked speed": {name: digits(value) for name, value in worked_speed().items()},
    }
    for name, own in values.items():
        for line in lines_of(text, name)[2:]:
            key, old, *rest = cells(line)
            new = own.get(key.strip("`"), old)
            text = text.replace(line, "| " + " | ".join([key, new, *rest]) + " |", 1)
    return text


def test_the_page_is_as_its_writer_leaves_it() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert refreshed(text) == text, "values are old; write them with: python -m tests.test_docs_models"


if __name__ == "__main__":
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
