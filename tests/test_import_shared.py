"""The collected traces: the number of jobs of each, and the oddities that its listing names."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.workload.imports import Imported, Settings, import_jobs
from sim.workload.normal import write_trace
from sim.workload.readers import read_trace
from tests.import_cases import SHARED, column, hours

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="the traces are not beside the project")


def of(name: str, **settings: str) -> Imported:
    return import_jobs(SHARED / name, Settings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "format_", "rows", "jobs", "replayable"),
    [
        ("philly/philly_all_82k.csv.gz", "csv", 82_247, 82_247, 82_247),
        ("philly/philly_vc_ed69ec.csv", "csv", 1_137, 1_137, 1_137),
        ("philly/philly_vc_7f04ca.csv", "csv", 723, 723, 723),
        ("swf/philly_vc_7f04ca_derived.swf", "swf", 723, 723, 723),
        ("swf/accasim_tests_workload.swf", "swf", 25, 25, 25),
        # 14 rows: 11 jobs of one row, of which a range stands for 7 and a requeue has two rows; 2 steps.
        ("sacct/parsable2_gpu_jobs.psv", "sacct", 14, 17, 8),
        ("sacct/reportseff_many_steps_parsable_trailing_pipe.psv", "sacct", 39, 1, 0),
        # 8,152 pods, of which 1,088 ask for no card and 897 were never scheduled (861 of those with cards)
        ("alibaba/openb_pod_list_default.csv", "csv", 8_152, 8_152, 8_152 - 1_088 - 861),
    ],
)
def test_every_file_has_its_number_of_jobs(
    tmp_path: Path, name: str, format_: str, rows: int, jobs: int, replayable: int
) -> None:
    found = of(name)
    report = found.report
    assert (report.format, report.tally.rows, report.jobs) == (format_, rows, jobs)
    assert (report.replayable, report.tally.set_aside) == (replayable, 0)
    assert report.jobs == report.replayable + sum(report.left_out.values())
    if replayable:
        write_trace(found.jobs, found.about, tmp_path / "jobs.parquet")
        assert len(read_trace(tmp_path / "jobs.parquet")) == replayable


@pytest.mark.parametrize(
    "name",
    [
        "alibaba/openb_node_list_gpu_node.csv",
        "summaries/cluster_summary.csv",
        "summaries/helios_cluster_summary.csv",
    ],
)
def test_tables_that_hold_no_jobs_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="no column says how long a job ran"):
        of(name)


def test_philly_is_read_as_a_plain_loop_reads_it() -> None:
    found = of("philly/philly_all_82k.csv.gz")
    with gzip.open(SHARED / "philly/philly_all_82k.csv.gz", "rt", encoding="utf-8") as stream:
        rows = sorted(csv.DictReader(stream), key=lambda row: row["submit_time"])
    assert found.about["origin"] == rows[0]["submit_time"].replace(" ", "T")
    card_seconds = sum(int(row["duration_s"]) * int(row["num_gpus"]) for row in rows)
    assert found.report.card_hours == pytest.approx(card_seconds / 3600, rel=1e-12)
    assert found.report.widths == {
        width: sum(int(row["num_gpus"]) == width for row in rows)
        for width in sorted({int(row["num_gpus"]) for row in rows})
    }
    assert len(found.report.teams) == len({row["vc"] for row in rows})


def test_the_swf_made_from_a_philly_team_is_the_same_workload() -> None:
    swf, table = of("swf/philly_vc_7f04ca_derived.swf"), of("philly/philly_vc_7f04ca.csv")
    for name in ("submit_s", "gpus", "runtime_s"):
        assert column(swf, name) == column(table, name)
    assert swf.about["origin"] == table.about["origin"] == "2017-09-04T10:30:41"  # UnixStartTime 1504521041


def test_accasim_lines() -> None:
    found = of("swf/accasim_tests_workload.swf")
    assert column(found, "id")[:2] == ["184", "5414"]
    assert column(found, "submit_s")[:2] == [0, 3_801_279 - 561_553]
    assert column(found, "wait_s")[:2] == [0, 129_908]
    assert column(found, "runtime_s")[:2] == [61, 26_614]
    assert column(found, "gpus")[:2] == [16, 36]
    assert column(found, "limit_s")[:2] == [43_200, 29_400]
    assert set(column(found, "state")) == {"completed"}
    assert column(found, "team")[:2] == ["group-1", "group-1"]
    assert column(found, "user")[:2] == ["user-6", "user-1"]
    assert found.about["origin"] is None  # no header: nobody knows when second 0 was


def test_oddities_of_the_sacct_sample() -> None:
    found = of("sacct/parsable2_gpu_jobs.psv")
    jobs = {row["id"]: row for row in found.jobs.to_pylist()}
    assert hours(found)["500102"] == 93_783 / 3600  # 1-02:03:03
    assert jobs["500101"]["gpus"] == 1  # gres/gpu=1,gres/gpu:a100=1 is one card
    assert (jobs["500102"]["gpus"], jobs["500102"]["card"]) == (4, "a100")
    assert jobs["500102"]["host_memory_gib"] == 312.5
    assert jobs["500103"]["state"] == "cancelled"
    assert (jobs["500103"]["runtime_s"], jobs["500103"]["left_out"]) == (None, "never started: no run time")
    assert jobs["500104_0"]["host_memory_gib"] == 8 * 4000 / 1024  # 4000Mc: a core, of which cpu=8
    assert (jobs["500104_2"]["state"], jobs["500104_2"]["runtime_s"]) == ("timeout", 7218)
    assert jobs["500104_2"]["limit_s"] == 7200
    assert [jobs[f"500104_{task}"]["state"] for task in range(3, 10)] == ["pending"] * 7
    assert (jobs["500110"]["gpus"], jobs["500110"]["left_out"]) == (0, "asks for no card")
    assert jobs["500110"]["limit_s"] is None  # UNLIMITED
    requeued = jobs["500111"]  # failed with its machine after 2.5 h, then ran for 8 h
    assert (requeued["state"], requeued["attempts"], requeued["runtime_s"]) == ("completed", 2, 8 * 3600)
    assert (requeued["lost_s"], requeued["wait_s"]) == (9000, 60)
    assert (jobs["500112"]["card"], jobs["500112"]["memory_gib"]) == ("1g.10gb", 10)
    assert (jobs["500112"]["state"], jobs["500112"]["censored"]) == ("running", "running")
    assert (jobs["500113"]["gpus"], jobs["500113"]["limit_s"]) == (2, None)  # Partition_Limit
    assert found.report.tally.merged["steps"] == 2
    assert found.report.tally.oddities["ran past its time limit (a replay ends it there)"].lines == [9]


def test_a_job_with_many_steps_and_no_word_of_cards() -> None:
    found = of("sacct/reportseff_many_steps_parsable_trailing_pipe.psv")
    (job,) = found.jobs.to_pylist()
    assert (job["id"], job["runtime_s"], job["gpus"]) == ("65638294", 7 * 3600 + 36 * 60 + 3, None)
    assert job["limit_s"] == 7 * 86_400 - 60
    assert found.report.tally.merged["steps"] == 38


def test_pods_that_share_cards_say_so() -> None:
    found = of("alibaba/openb_pod_list_default.csv")
    jobs = {row["id"]: row for row in found.jobs.to_pylist()}
    pod = jobs["openb-pod-0001"]
    assert (pod["gpus"], pod["card_share"], pod["team"]) == (1, 0.46, "LS")
    assert (pod["submit_s"], pod["runtime_s"]) == (427_061, 12_902_960 - 427_061)
    assert pod["host_memory_gib"] == 12
    assert jobs["openb-pod-0061"]["left_out"] == "never started: no run time"
    with (SHARED / "alibaba/openb_pod_list_default.csv").open(encoding="utf-8") as stream:
        parts = sum(0 < int(row["gpu_milli"]) < 1000 for row in csv.DictReader(stream))
    assert found.report.part_cards == parts
