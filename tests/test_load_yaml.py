"""YAML: what it means, and what is refused, at its line."""

from __future__ import annotations

import pytest

from sim.load import load_text
from sim.load_tree import LARGEST_FILE
from tests.load_helpers import SMALL, fault, faults


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        ("", 1, "empty"),
        ("# only a comment\n", 1, "empty"),
        ("- a\n- b\n", 1, "mapping of keys"),
        ("just words\n", 1, "mapping of keys"),
        ("a: 1\nb:\n\t- c\n", 3, "tabs"),
        ("a: [1, 2\n", 2, "not valid YAML"),
        ("a: 'x\n", 2, "not valid YAML"),
        ("a: b: c\n", 1, "colon"),
        ("a: 1\n---\nb: 2\n", 2, "one document"),
        ("a: &x 1\nb: *x\n", 2, "aliases"),
        ("a: 1\nb: *nowhere\n", 2, "aliases"),
        ("a: !!python/object/apply:os.system [ls]\n", 1, "tags"),
        ("a: 1\nb: !mine 2\n", 2, "tags"),
        ("%YAML 1.1\n---\na: no\n", 2, "directives"),
        ("a: 1\n? [b]\n: 2\n", 2, "single word"),
        ("a: 1\nb: \x00\n", 2, "not valid YAML"),
        ("a: " + "[" * 30 + "]" * 30, 1, "nested"),
        ("name: x\nname: y\n", 2, "first in line 1"),
    ],
)
def test_unsafe_or_broken_yaml_is_refused_at_its_line(text, line, rule):
    problem = fault(text)
    assert (problem.file, problem.line) == ("scenario.yaml", line)
    assert rule in problem.rule


def test_a_key_twice_deep_inside_names_both_lines():
    problem = fault(SMALL.replace("        count: 2\n", "        count: 2\n        count: 3\n"))
    assert (problem.line, problem.key) == (17, "count")
    assert "line 16" in problem.rule


def test_bytes_that_are_no_utf8_and_files_that_are_too_large():
    problem = fault(SMALL.encode() + b"# caf\xe9\n")
    assert problem.line == SMALL.count("\n") + 1
    assert "UTF-8" in problem.rule
    assert "at most 256 kB" in fault("#" * (LARGEST_FILE + 1)).rule
    assert "at most 256 kB" in fault(b"#" * (LARGEST_FILE + 1)).rule


def test_a_byte_order_mark_and_chinese_names_are_read():
    text = SMALL.replace("name: small", "name: 四卡还是八卡")
    for source in (text, text.encode("utf-8-sig"), "\ufeff" + text, text.replace("\n", "\r\n").encode()):
        assert load_text(source).scenario.name == "四卡还是八卡"


def test_words_are_words_and_numbers_are_numbers():
    text = SMALL.replace("name: bot", "name: no").replace("samples: 1000", "samples: 1e5")
    job_class = load_text(text).scenario.workload.classes[0]
    assert (job_class.name, job_class.samples) == ("no", 100_000)
    assert "text" in fault(SMALL.replace("name: small", "name: 12")).rule


@pytest.mark.parametrize("value", [".nan", ".inf", "-.inf"])
def test_not_a_number_is_refused(value):
    problem = fault(SMALL.replace("samples: 1000", f"samples: {value}"))
    assert (problem.line, problem.key) == (9, "workload.classes.0.samples")
    assert "finite" in problem.rule or "above 0" in problem.rule


def test_true_is_no_number():
    problem = fault(SMALL.replace("count: 2", "count: true"))
    assert (problem.line, problem.key, problem.rule) == (
        16,
        "strategies.0.leases.0.count",
        "must be a number, not true or false",
    )


def test_a_number_of_five_thousand_digits_is_refused():
    assert faults(SMALL.replace("count: 2", "count: " + "9" * 5000))[0].line == 16
