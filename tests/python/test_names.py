"""What pages and docstrings name is there, and no page says a sentence twice."""

from __future__ import annotations

import names
import prose
import pytest


def test_what_pages_and_docstrings_name_is_there() -> None:
    assert names.problems() == []


def test_foreign_names_are_those_that_pages_name() -> None:
    said = "\n".join(text for _, _, text in names.texts())
    assert [name for name in sorted(names.foreign()) if name not in said] == []
    assert [name for name in sorted(names.foreign()) if name in names.words()] == []


@pytest.mark.parametrize(
    "span",
    [
        *(
            "crates/tcp/src/rtt.rs",
            "rtt.rs",
            "tests/python/names.py",
            "docs/models/",
            "NAME.md",
            "manifest.json",
            "python/elephan/cli/",
        ),
        *("el.run", "el.run(scenario, seed=1)", "elephan.scenario.trust", "el.CongestionControl.on_ack", "el.rtt.Estimator"),
        *(
            "elephan run",
            "elephan run NAME --python-from none",
            "elephan store check STORE",
            "elephan study run DIR",
            "--python-from",
        ),
        *("Endpoint::poll_transmit", "poll_transmit", 'rto_min = "200 ms"', "traffic.flow.congestion_control", "fct_ns"),
        *("link up", "1 bdp", "a < b", "x", "ECT(1)", "el", "tcp_write_timeout"),
    ],
)
def test_names_that_are_there_are_let_through(span: str) -> None:
    assert names.wrong(span) == ""


@pytest.mark.parametrize(
    ("span", "why"),
    [
        ("longpath/forms.py", "no such file"),  # docs/path.md named these modules long after they had moved
        ("longpath/onemore.py", "no such file"),
        ("crates/tcp/src/gone.rs", "no such file"),
        ("gone-for-good.md", "no such file"),
        ("crates/gone/", "no such folder"),
        ("el.run_twice", "no such name of elephan"),
        ("el.gone.Thing(1)", "no such name of elephan"),
        ("elephan.scenario.gone", "no such name of elephan"),
        ("elephan runn", "no such command: runn"),
        ("elephan study walk DIR", "no such command: walk"),
        ("elephan run --pythn-from x", "no such option of run: --pythn-from"),
        ("elephan compare --pcap", "no such option of compare: --pcap"),
        ("--no-such-thing", "no such option: --no-such-thing"),
        ("Endpoint::poll_transmitt", "no such name: poll_transmitt"),
        ("rto_minn", "no such name: rto_minn"),
        ("rto_minn = 3", "no such name: rto_minn"),
        ("traffic.flow.congestion_controll", "no such name: congestion_controll"),
        ("poll_transmitt()", "no such name: poll_transmitt"),
        ("NO_SUCH_CONSTANT", "no such name: NO_SUCH_CONSTANT"),
    ],
)
def test_names_that_are_not_there_are_seen(span: str, why: str) -> None:
    assert names.wrong(span) == why


def test_a_reader_may_be_told_to_write_a_file() -> None:
    assert names.wrong("gentle-twin.py") == "no such file"
    assert names.wrong("gentle-twin.py", "$ elephan conformance gentle-twin.py:Twin") == ""


def test_no_page_says_a_sentence_twice() -> None:
    found = [
        f"{page.relative_to(prose.ROOT)}:{line}: {sentence}"
        for page in prose.pages()
        if page.relative_to(prose.ROOT).as_posix() not in names.GENERATED
        for line, sentence in names.twice(page.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_a_sentence_that_stands_twice_is_seen() -> None:
    one = "A packet takes a millisecond and more there (see `aqm.md`)."
    assert [sentence for _, sentence in names.twice(f"A line of 12 Mb/s. {one} {one}")] == [
        "A packet takes a millisecond and more there (see aqm_md)."
    ]
    assert names.twice(f"{one}\n\nThen other words.\n\n- {one}\n") != []
    assert names.twice("Short words twice. Short words twice.") == []
