"""Faults of other tools about cards: logits of large vocabularies, and two cards over a slow link.

Numbers are those of the project's list of known faults; rows that stand in other files are found through
docs/known-faults.md.
"""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest

from sim.decisions.placement import worthwhile
from sim.engine import run
from sim.model.fleet import LeaseSpan
from sim.model.job import Job, JobSet, JobShape
from sim.model.rates import RateTable, RunOption
from sim.model.records import RunLog
from sim.model.scenario import Scenario
from sim.physics.constants import load_constants
from sim.physics.memory import card_memory
from sim.physics.rates import rate_table
from sim.physics.split import DATA_PARALLEL, Layout, Split
from sim.physics.splits import splits_of
from sim.streams import Streams
from sim.units import GIB, HOUR, SECOND
from tests.billing_cases import ledger, offer, rental, scenario
from tests.build import OFFER, option, plan, pool
from tests.physics_cases import case, catalog, columns, job, parts, row, speed, task

# 53: a 2B model with a vocabulary of 256 thousand runs out of memory where a larger one fits

COPIES = 12 / 4
"""Copies of the logits that stand at once: 12 bytes an entry in 32 bits, 6 in 16 bits (traced peaks)."""


def test_53_the_logits_of_256_thousand_entries_by_pencil() -> None:
    # One 32-bit copy: 4 x 4096 x 256,000 x 4 B = 16,777,216,000 B = 15.625 GiB; of 32,000 entries an eighth.
    assert 4 * 4096 * 256_000 * 4 == 16_777_216_000
    large = parts("gemma-2b", micro_batch=4, seq_len=4096).logits
    small = parts("llama-2-7b", micro_batch=4, seq_len=4096).logits
    assert catalog().models["gemma-2b"].vocab == 256_000
    assert catalog().models["llama-2-7b"].vocab == 32_000
    assert large / COPIES == pytest.approx(15.625)
    assert small / COPIES == pytest.approx(1.953, abs=5e-4)
    assert large / small == pytest.approx(8)
    # Forward copy and gradient: at least twice one copy.
    assert large >= 2 * 15.625


def test_53_the_small_model_does_not_fit_24_gb_and_a_fused_loss_takes_the_term_away() -> None:
    asked = {"micro_batch": 4, "seq_len": 4096}
    standard = row("rtx3090-24g-cloud", "gemma-2b", **asked)
    assert not standard.fits
    assert "GiB too little" in standard.reason
    fused = row("rtx3090-24g-cloud", "gemma-2b", loss="fused", **asked)
    assert fused.fits
    assert parts("gemma-2b", loss="fused", **asked).logits == 0
    # Weights are not what is in the way: a 7B model has three times as many, and less of everything else.
    seven = row("a100-40g-custom", "llama-2-7b", **asked)
    two = row("a100-40g-custom", "gemma-2b", **asked)
    assert (seven.fits, two.fits) == (True, False)


@pytest.mark.parametrize(("loss", "width", "megabytes"), [("plain", 2, 155.3), ("standard", 4, 310.6)])
def test_53_the_logits_of_the_places_that_are_kept(loss: str, width: int, megabytes: float) -> None:
    # 2 samples x 256 places x 151,665 entries: 155.3 MB in 16 bits, 310.6 MB in 32 bits.
    assert 2 * 256 * 151_665 * width / 1e6 == pytest.approx(megabytes, abs=0.05)
    known = catalog().models["qwen2.5-1.5b"]
    asked = task("qwen2.5-1.5b", micro_batch=2, seq_len=256, loss=loss)
    asked = dataclasses.replace(asked, model=known.model_copy(update={"vocab": 151_665}))
    one = dataclasses.replace(case("qwen2.5-1.5b"), task=asked)
    found = card_memory(columns(one), load_constants().memory).parts(0).logits
    assert found * GIB / 1e6 / COPIES == pytest.approx(megabytes, abs=0.05)


def test_53_a_fused_loss_needs_no_chunked_one_beside_it() -> None:
    steps = row("rtx3090-24g-cloud", "llama-2-13b", seq_len=8192, loss="fused").remedies
    assert steps
    assert "chunked loss" not in [step.change for step in steps]


# 57: two cards over a slow link are barely faster, or slower, than one

ONE_S, TWO_S = 1.27, 2.07
"""Seconds a step of one sample a card: on one card, and on two that sum their gradients over the link."""


def ways(second: float) -> tuple[RunOption, RunOption]:
    """One card, and two that need `second` seconds a sample; work is counted in samples."""
    return (
        option(1, us_per_work=ONE_S * SECOND),
        option(2, split="data parallel", us_per_work=second * SECOND),
    )


def made(counts: tuple[int, ...], found: tuple[RunOption, ...], deadline_s: float | None = None) -> RunLog:
    """3,600 samples on two cards of one machine that are otherwise free."""
    due = None if deadline_s is None else round(deadline_s * SECOND)
    jobs = JobSet((JobShape("lora", None, counts),), (Job(0, "job", 0, 0, 3600, deadline_us=due),))
    cards = pool(1, per_machine=2, leases=[LeaseSpan(0, 1, 0, None)])
    cards = dataclasses.replace(cards, hourly_price=4.0)
    rule = "best-fit" if deadline_s is None else "cheapest"
    return run(
        plan(cards, hours=10, placement=rule), jobs, RateTable(options={(0, OFFER): found}), Streams(1)
    )


def cost(log: RunLog) -> Decimal:
    """The job's cards for its time, by the second, at 2.00 an hour and card."""
    sold = {"card": offer("card", 2, unit="hour", plans={"hourly": {"multiplier": 1, "increment_s": 1}})}
    asked = scenario(burst={"offer": "card", "max": 2, "rent_when_wait_over": "0s"}, horizon="10h")
    (stay,) = log.attempts
    hours = (stay.end_us - stay.start_us) / HOUR
    records = [
        dataclasses.replace(rental(0, hours, number), offer="card") for number in range(len(stay.cards))
    ]
    return ledger(asked, records, offers=sold).accrued


def test_57_data_parallel_over_a_slow_link_is_a_fifth_faster_and_costs_two_thirds_more() -> None:
    # Two samples in 2.07 s against one in 1.27 s: 2 x 1.27 / 2.07 = 1.227, of two cards 61.4 %.
    one, two = made((1,), ways(TWO_S / 2)), made((2,), ways(TWO_S / 2))
    times = [log.jobs[0].run_us / SECOND for log in (one, two)]
    assert times == pytest.approx([3600 * 1.27, 3600 * 1.035])
    speed_up = times[0] / times[1]
    assert (round(speed_up, 3), round(100 * speed_up / 2, 1)) == (1.227, 61.4)
    costs = [cost(log) for log in (one, two)]
    assert costs == [Decimal("2.54"), Decimal("4.14")]
    assert [round(each / 3600, 6) for each in costs] == [Decimal("0.000706"), Decimal("0.001150")]
    assert round(costs[1] / costs[0], 2) == Decimal("1.63")


def test_57_the_second_card_is_taken_only_where_the_deadline_needs_it() -> None:
    # One card needs 4,572 s, two need 3,726 s.
    found = ways(TWO_S / 2)
    assert made((), found).jobs[0].gpus == 1  # auto: the fewest that fit
    assert made((1, 2), found, deadline_s=4600).jobs[0].gpus == 1
    assert made((1, 2), found, deadline_s=4000).jobs[0].gpus == 2


def test_57_two_cards_that_are_slower_than_one_are_never_taken_where_one_fits() -> None:
    # Tensor parallel, measured: 29 tokens a second on one card, 17 on two: 17 / 29 = 0.586.
    one, two = ways(ONE_S * 29 / 17)
    assert round(one.us_per_work / two.us_per_work, 3) == 0.586
    assert worthwhile((one, two), (1, 2), 2) == worthwhile((one, two), (2, 1), 2) == (one,)
    assert made((2, 1), (one, two)).jobs[0].gpus == 1
    assert made((2, 1), (one, two), deadline_s=1000).jobs[0].gpus == 1
    # Where one card cannot hold the job, two at 0.586 of the speed it is.
    assert made((2, 1), (two,)).jobs[0].run_us == round(3600 * ONE_S * 29 / 17 * SECOND)


@pytest.mark.parametrize(("method", "split"), [("full", DATA_PARALLEL(2)), ("lora", Split(tensor=2))])
def test_57_no_slow_link_is_faster_than_a_fast_one(method: str, split: Split) -> None:
    links = ["nvlink", "pcie5", "pcie4", "pcie3", "slow", "10gbe", "1gbe"]
    found = speed(*(case(method=method, split=split, layout=Layout(1, 2, link)) for link in links))
    assert found == sorted(found, reverse=True)
    assert found[0] > 2 * found[-1]
    # No link makes two cards more than twice one.
    assert found[0] <= 2 * speed(case(method=method))[0]


def test_57_matrices_cut_across_machines_are_warned_of_and_never_over_more_than_eight_cards() -> None:
    asked = job("llama-2-70b", gpus=4)
    offers = [catalog().offers[name] for name in ("a100-40g-custom", "a100-40g-8x")]
    shapes = [JobShape(asked.name, asked.name, (4,))]
    question = Scenario.model_validate(
        {
            "name": "70B", "start": "2026-01-01", "horizon": "10d",
            "workload": {"classes": [asked.model_dump(mode="json", exclude_unset=True)]},
            "strategies": [{"name": "s", "leases": [{"offer": "a100-40g-custom", "plan": "annual"}]}],
        }
    )  # fmt: skip
    found = rate_table(question, shapes, offers, catalog())
    (far,), near = found.options[0, "a100-40g-custom"], found.options[0, "a100-40g-8x"]
    assert (far.split, far.spans, far.limited_by) == ("tensor 4", True, "network")
    assert (far.tokens_per_s or 0) < (near[0].tokens_per_s or 0)
    (warning,) = [note for note in found.notes if "cut across machines" in note]
    assert "a100-40g-custom: case (tensor 4 over 4 cards)" in warning
    assert "a100-40g-8x" not in warning
    possible, _ = splits_of(task("llama-2-70b"), Layout(16, 1, "none", "10gbe"))
    assert max(split.tensor for split in possible) == 8
