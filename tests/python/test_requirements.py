"""The register of requirements: each place and test that it cites is there, each gap has a reason, and the page says the same."""

import random
import re
import sys
from collections import Counter
from pathlib import Path

import cut_requirements
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import requirements  # noqa: E402

# The numbers that appendix B of RFC 9293 gives to its rules: MUST-1 to MUST-69 and SHLD-1 to SHLD-31.
NUMBERED = {"MUST": range(1, 70), "SHLD": range(1, 32)}
RULE = {"rfc": 1, "section": "2", "level": "MUST", "text": "A rule.", "state": "tested"}
PLACE = "crates/tcp/src/prr.rs: on_ack"
TEST = "crates/tcp/src/prr.rs: bursts_of_losses_are_bounded"
SCRIPT = "tests/packetdrill/closing/active.pkt"


def held() -> dict[int, requirements.Document]:
    return requirements.register()


def test_each_place_and_test_is_there():
    assert [problem for one in held().values() for rule in one.rules for problem in requirements.problems(rule)] == []


def test_each_file_is_read():
    files = {int(path.stem.removeprefix("rfc")) for path in requirements.FOLDER.glob("*")}
    assert files == set(held())


def test_every_numbered_rule_of_rfc_9293_is_listed_once():
    found = Counter(rule.name for rule in held()[9293].rules)
    assert found == Counter(f"{kind}-{number}" for kind, numbers in NUMBERED.items() for number in numbers)


def test_the_level_is_that_of_the_number():
    wrong = [rule.name for rule in held()[9293].rules if rule.level.startswith("MUST") != rule.name.startswith("MUST")]
    assert wrong == []


def test_the_page_has_what_the_files_say():
    assert requirements.main([]) == 0


def test_the_counts_of_the_page_add_up():
    page = requirements.PAGE.read_text(encoding="utf-8")
    rows = [[int(n) for n in re.findall(r"\d+", row)] for row in re.findall(r"^\| (?:\d+|all) \|.*$", page, re.MULTILINE)]
    # RFC, tested, rules, per cent, untested, not done, left out; the sum has no number of an RFC.
    sums = [sum(row[i] for row in rows[:-1]) for i in (1, 2, 4, 5, 6)]
    assert sums == [rows[-1][i] for i in (0, 1, 3, 4, 5)]
    for _, tested, every, _, *others in rows[:-1]:
        assert tested + sum(others) == every
    assert page.count("\n- **") == rows[-1][1] + 4  # and the four words that the head explains


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"place": ["crates/tcp/src/none.rs: on_ack"], "test": [TEST]}, "no such file"),
        ({"place": ["crates/tcp/src/prr.rs: on_nothing"], "test": [TEST]}, "no such item"),
        ({"place": ["crates/tcp/src/prr.rs"], "test": [TEST]}, "names no item"),
        ({"place": [PLACE], "test": [PLACE]}, "no such test"),
        ({"place": [SCRIPT], "test": [TEST]}, "a script is a test"),
        ({"place": [PLACE]}, "names no test and gives no reason"),
        ({"test": [TEST]}, "tested without a place"),
        ({"place": [PLACE], "state": "untested"}, "needs a reason"),
        ({"place": [PLACE], "test": [TEST], "state": "not done", "reason": "No."}, "and no test"),
        ({"place": [PLACE], "test": [TEST], "level": "MAY"}, "level 'MAY'"),
        ({"place": [PLACE], "test": [TEST], "cut": ["no such line", ""]}, "exactly once"),
    ],
)
def test_a_wrong_entry_is_said(changed, said):
    found = requirements.problems(requirements.Rule(**(RULE | changed)))
    assert any(said in problem for problem in found), found


@pytest.mark.parametrize("test", [TEST, SCRIPT, "tests/python/test_requirements.py: test_each_file_is_read"])
def test_a_right_entry_passes(test):
    assert requirements.problems(requirements.Rule(**RULE, place=[PLACE], test=[test])) == []


def test_an_unknown_key_is_said(tmp_path):
    path = tmp_path / "rfc1.toml"
    path.write_text('number = 1\ntitle = "T"\n[[rule]]\nsection = "2"\nlevel = "MUST"\ntext = "A rule."\ntests = "x"\n')
    with pytest.raises(ValueError, match=r"rfc1\.toml: section 2: unknown key tests"):
        requirements.read(path)


@pytest.mark.slow
def test_rules_that_are_taken_out_break_their_tests():
    sample = random.Random(2026).sample(cut_requirements.candidates(), 3)
    found = list(cut_requirements.results(sample, ROOT / "target" / "requirements"))
    assert {rule.label: said for rule, _, said in found} == {rule.label: "fails" for rule in sample}


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (TEST, "--lib -- --exact prr::tests::bursts_of_losses_are_bounded"),
        (
            "crates/cc/src/algorithm/cubic/tests.rs: the_default_is_rfc_9438",
            "-- --exact algorithm::cubic::tests::the_default_is_rfc_9438",
        ),
        ("crates/tcp/tests/loopback/ecn.rs: marks", "--test loopback -- --exact ecn::marks"),
        ("crates/sim/tests/aqm.rs: an_idle_link_is_seen", "--test aqm -- --exact an_idle_link_is_seen"),
        (SCRIPT, "-p elephan-packetdrill --test scripts every_script_passes"),
    ],
)
def test_how_cargo_runs_a_test(test, words):
    assert " ".join(cut_requirements.arguments_of(test)[0]).endswith(words)
