"""Claims as files: every shipped row, the reviewer's verdicts, and a user's own file with its mistakes."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sim.claims.model import KINDS
from sim.claims.read import load_claims, read_claims
from sim.claims.reviewed import REVIEW_WORDS, counterpart, load_review
from sim.claims.table import COMPUTATIONS
from sim.errors import InputError
from tests.claims_cases import bench, everything
from tests.conftest import Outcome
from tests.price_lists import QUOTE

ROOT = Path(__file__).parents[1]
FACTS = ROOT.parent / "shared" / "facts" / "seed_claims.csv"
EXAMPLE = ROOT / "docs" / "seller-claims.yaml"
Command = Callable[..., Outcome]

ONE = """\
claims:
  - id: a
    kind: price
    statement: Four cards for a year cost 107,520 CNY.
    value: {low: 107520, unit: CNY/year}
    computation: bill
    inputs: {offer: a100-40g-custom, count: 4, plan: annual, per: year}
"""


def file(folder: Path, text: str, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


class TestShipped:
    def test_the_issue_asks_for_so_many(self) -> None:
        found = everything().values()
        assert len(found) >= 222
        assert sum(one.working is not None for one in found) >= 150

    def test_both_languages_are_there(self) -> None:
        for one in load_claims().claims:
            texts = [
                one.statement,
                one.cannot,
                one.note,
                *one.conditions,
                *(o.condition for o in one.only_if),
            ]
            for text in (text for text in texts if text is not None):
                assert any("\u4e00" <= sign <= "\u9fff" for sign in text.zh), (one.id, text.zh)
                assert not any("\u4e00" <= sign <= "\u9fff" for sign in text.en), (one.id, text.en)

    def test_order_of_the_articles(self) -> None:
        ids = [one.id for one in load_claims().claims]
        assert ids == sorted(ids)
        assert list(load_claims().articles) == ["s0", "s1", "s2"]
        assert all(one.id.lower().startswith(one.article) for one in load_claims().claims)

    def test_contradictions_are_of_different_values_or_words(self) -> None:
        claims = {one.id: one for one in load_claims().claims}
        for one in claims.values():
            for name in one.contradicts:
                assert claims[name].statement.en != one.statement.en

    def test_every_kind_is_there(self) -> None:
        assert {one.kind for one in load_claims().claims} == set(KINDS)


@pytest.mark.skipif(not FACTS.is_file(), reason="the facts lie beside the checkout, not in it")
class TestFacts:
    def rows(self) -> list[dict[str, str]]:
        with FACTS.open(encoding="utf-8", newline="") as text:
            return list(csv.DictReader(text))

    def test_every_row_is_a_claim_of_its_kind(self) -> None:
        claims = {one.id: one for one in load_claims().claims}
        assert {row["id"]: row["kind"] for row in self.rows()} == {
            row["id"]: claims[row["id"]].kind for row in self.rows() if row["id"] in claims
        }

    def test_verdicts_are_copied_right(self) -> None:
        words = {
            row["id"]: row["verdict"].replace("contradicted_by_other_seed", "contradicted")
            for row in self.rows()
        }
        assert words == dict(load_review().verdicts)


class TestReviewer:
    def test_what_differs_has_a_reason_and_nothing_else_has(self) -> None:
        review = load_review()
        differs = {
            name for name, word in review.verdicts.items() if not counterpart(everything()[name], word)
        }
        assert differs <= set(review.reasons)
        # A contradiction that both name may have words of its own, for more is computed beside it.
        assert all(review.verdicts[name] == "contradicted" for name in set(review.reasons) - differs)

    def test_the_wrong_and_the_contradicted_are_judged(self) -> None:
        counts = Counter(load_review().verdicts.values())
        assert (counts["wrong"], counts["contradicted"]) == (40, 29)
        assert set(counts) == set(REVIEW_WORDS)
        review, found = load_review(), everything()
        for name, word in review.verdicts.items():
            if word == "wrong" and not counterpart(found[name], word):
                assert found[name].working is not None, name
                assert len(review.reasons[name]) > 40, name
            if word == "contradicted":
                one = found[name]
                # By computation, or by comparing the values of both statements.
                assert one.working is not None or one.contradicts, name

    def test_most_agree(self) -> None:
        review = load_review()
        agree = sum(counterpart(everything()[name], word) for name, word in review.verdicts.items())
        assert agree > len(review.verdicts) / 2


class TestOwnFile:
    def test_the_example(self) -> None:
        found = read_claims([EXAMPLE])
        from sim.claims.check import check_claims

        said = {one.claim.id: one.said("en") for one in check_claims(found, bench())}
        assert said["year"] == "holds only if the discount is 75 per cent of the list price"
        assert said["saved"] == said["pays"] == "wrong"
        assert said["memory"] == "holds"
        assert said["support"] == "cannot be checked"
        assert said["hours"].startswith("holds only if samples average ")

    def test_a_claim_may_contradict_a_shipped_one(self, tmp_path: Path, fleetsim: Command) -> None:
        mine = file(tmp_path, ONE + "    contradicts: [S0-026]\n")
        done = fleetsim("claims", mine)
        assert done.code == 0
        assert "7,000 CNY/year in S0-026 against 107,520 CNY/year here" in " ".join(done.out.split())

    @pytest.mark.parametrize(
        ("old", "new", "line", "key", "said"),
        [
            ("kind: price", "kind: prise", 3, "claims.0.kind", "'price'"),
            ("    kind: price\n", "", 2, "claims.0.kind", "required"),
            ("computation: bill", "computation: bil", 6, "claims.0.computation", "did you mean 'bill'"),
            ("offer: a100-40g-custom", "offer: a100", 7, "claims.0.inputs.offer", "a100-40g-custom"),
            ("count: 4", "cards: 4", 7, "claims.0.inputs.cards", "unknown key"),
            ("unit: CNY/year", "unit: CNY", 5, "claims.0.value.unit", "known: CNY/year"),
            ("low: 107520", "low: 5, high: 4", 5, "claims.0.value", "high may not be below low"),
            ("low: 107520", "low: a lot", 5, "claims.0.value.low", "decimal"),
            ("statement: Four", "staement: Four", 4, "claims.0.staement", "unknown key"),
            ("id: a\n", "id: a\n    article: s9\n", 3, "claims.0.article", "known: s0, s1, s2, own"),
            ("id: a\n", "id: a\n    contradicts: [S0-999]\n", 3, "claims.0.contradicts.0", "another claim"),
            ("computation: bill", "cannot: no", 2, "claims.0", None),
            ("id: a\n", "id: a\n    also: [{computation: x}]\n", 3, "claims.0.also.0.computation", "no such"),
            ("claims:", "claim:", 1, "claim", "unknown key"),
        ],
    )
    def test_mistakes_are_located(
        self,
        tmp_path: Path,
        fleetsim: Command,
        old: str,
        new: str,
        line: int,
        key: str,
        said: str | None,
    ) -> None:
        assert old in ONE
        mine = file(tmp_path, ONE.replace(old, new))
        done = fleetsim("claims", mine)
        if said is None:  # a claim with a reason instead of a computation is a good one
            assert (done.code, done.err) == (0, "")
            return
        assert (done.code, done.out) == (2, "")
        assert f"mine.yaml:{line}: {key}: " in done.err
        assert said in done.err
        assert "Traceback" not in done.err

    def test_more_mistakes(self, tmp_path: Path) -> None:
        twice = file(tmp_path, ONE + ONE.partition("\n")[2])
        with pytest.raises(InputError, match="this id stands twice"):
            read_claims([twice])
        with pytest.raises(InputError, match="does not exist"):
            read_claims([tmp_path / "none.yaml"])
        with pytest.raises(InputError, match="has the key `claims`"):
            read_claims([file(tmp_path, "articles: {}\n")])
        with pytest.raises(InputError, match="this key holds a list"):
            read_claims([file(tmp_path, "claims: {}\n")])
        with pytest.raises(InputError, match="not valid YAML"):
            read_claims([file(tmp_path, "claims: [\n")])
        (tmp_path / "latin.yaml").write_bytes(b"claims: \xff\n")
        with pytest.raises(InputError, match="UTF-8"):
            read_claims([tmp_path / "latin.yaml"])

    def test_every_problem_of_a_file_is_told(self, tmp_path: Path, fleetsim: Command) -> None:
        second = ONE.partition("\n")[2].replace("id: a", "id: b").replace("plan: annual", "plan: yearly")
        mine = file(tmp_path, ONE.replace("count: 4", "count: 0") + second)
        done = fleetsim("claims", mine)
        assert done.code == 2
        assert "claims.0.inputs.count" in done.err
        assert "claims.1.inputs.plan" in done.err

    def test_ones_own_price_list(self, tmp_path: Path, fleetsim: Command) -> None:
        prices = file(
            tmp_path,
            "offers:\n"
            "  - {id: mine, name: Mine, provider: p, gpu: A100-40G, gpus_per_unit: 1, form: node,"
            " wan_mbps: 100, disk_read_gb_s: 1, link: none, network: none,"
            " price: {unit: month, low: 1000, high: 1000},"
            " plans: {monthly: {multiplier: 1}, annual: {multiplier: 0.5}}, currency: CNY, status: quote,"
            " source: mail, date: 2026-11-01}\n",
            "prices.yaml",
        )
        # 4 x 1,000 x 12 x 0.5.
        mine = file(tmp_path, ONE.replace("a100-40g-custom", "mine").replace("107520", "24000"))
        assert fleetsim("claims", mine).code == 2
        done = fleetsim("claims", mine, "--catalog", prices, "--format", "csv")
        assert done.code == 0
        assert ",holds," in done.out

    @pytest.mark.parametrize(
        "asked",
        [
            "list_price|{offer: mine}",
            "price_ladder|{offers: [mine, rtx3090-24g-cloud]}",
            "bill|{offer: mine, plan: annual, per: year}",
            "discount|{offers: [mine], plan: annual}",
            "offer_has|{offer: mine, price: 400}",
            "month_used|{used_days: 10, offer: mine}",
        ],
    )
    def test_prices_in_another_currency_are_not_taken_for_yuan(
        self, asked: str, tmp_path: Path, fleetsim: Command
    ) -> None:
        offer = QUOTE.format(
            id="mine", unit="month", price=400, currency="USD",
            plans="{monthly: {multiplier: 1}, annual: {multiplier: 0.5}}",
        )  # fmt: skip
        prices = file(tmp_path, f"offers:\n{offer}", "prices.yaml")
        name, inputs = asked.split("|")
        old = "computation: bill\n    inputs: {offer: a100-40g-custom, count: 4, plan: annual, per: year}"
        mine = file(tmp_path, ONE.replace(old, f"computation: {name}\n    inputs: {inputs}"))
        done = fleetsim("claims", mine, "--catalog", prices)
        assert (done.code, done.out) == (2, "")
        assert "USD" in done.err
        assert "Traceback" not in done.err


def test_computations_are_all_used_or_documented() -> None:
    """A computation that no shipped claim uses would be untested by them."""
    used = {one.computation for one in load_claims().claims}
    assert len(set(COMPUTATIONS) - used) <= 3
