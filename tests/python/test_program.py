"""Programs as congestion controls, over a pipe: the same run as a class, and what is wrong with a program is one line."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import pickle
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan import cli
from elephan.experiment.job import Job
from elephan.experiment.pinned import packed
from elephan.experiment.place import travel
from elephan.experiment.store.identity import Identities
from elephan.experiment.trials import Variant
from elephan.scenario.congestion import read_controllers
from elephan.scenario.source import open_source
from waiting import ANSWER_S, end, until

pytestmark = pytest.mark.alone  # how soon something answers is measured

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "pipe"
CONTROLLER = "traffic.reno.congestion_control"
SHORT = {"duration": "6 s", "warmup": "1 s", "stack": "rfc", "template.rate": "5 Mbps"}
COMPILERS = {"c": ("cc", "-O2", "-o"), "rs": ("rustc", "-O", "-o")}

# Reno as a program in Python; `{first}` stands before the answer to hello, `{each}` before that to an ACK.
SCRIPT = """#!{python} -SE
import json, os, signal, sys, time
first = True
def say(**answer): print(json.dumps(answer), flush=True)
for text in sys.stdin:
    line = json.loads(text)
    n = line["n"]
    if line["call"] == "hello":
        answer = dict(n=n, protocol=1, calls=["on_ack"])
        {first}
        say(**answer)
        continue
    answer = dict(n=n, cwnd=line["cwnd"] + line["mss"] * min(line["acked"], line["cwnd"]) / line["cwnd"])
    {each}
    say(**answer)
{last}
"""


def program(folder: Path, each: str = "", first: str = "", last: str = "", name: str = "mine") -> Path:
    path = folder / name
    path.write_text(SCRIPT.format(python=sys.executable, each=each or "pass", first=first or "pass", last=last))
    path.chmod(0o755)
    return path


def run(path: Path | str, deadline: str = "10 s", **params: Any) -> el.Run:
    given = el.Program(program=str(path), deadline=deadline, params=params or None)
    return el.run("sawtooth", set={CONTROLLER: given, **SHORT})


def alive(word: str | Path) -> list[str]:
    """Commands of processes that run and name `word`."""
    found = subprocess.run(["ps", "-A", "-ww", "-o", "stat=,args="], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in found if str(word) in line and not line.startswith("Z")]


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path) -> Iterator[None]:
    yield
    assert alive(tmp_path) == []


def same_but_the_name(a: el.Run, b: el.Run) -> None:
    for name in a.tables:
        one, other = a.tables[name], b.tables[name]
        if name == "flows":
            one, other = one.drop(["congestion_control"]), other.drop(["congestion_control"])
        assert one.equals(other), name


@pytest.fixture(scope="module")
def aimd() -> Any:
    spec = importlib.util.spec_from_file_location("aimd", EXAMPLES / "aimd.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Aimd


@pytest.mark.parametrize("language", sorted(COMPILERS))
def test_the_examples_are_the_class_to_the_bit(tmp_path: Path, aimd: Any, language: str) -> None:
    """Two connections with parameters, so that the ids are told apart."""
    compiler = COMPILERS[language]
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    built = tmp_path / "aimd"
    subprocess.run([*compiler, str(built), str(EXAMPLES / f"aimd.{language}")], check=True, timeout=120)
    params = {"increase": 2, "decrease": 0.75}
    more = {**SHORT, "traffic.reno.connections": 2, "template.queue.limit": "0.3 bdp"}
    kinds = functools.partial(aimd, **params), el.Program(program=str(built), params=params)
    as_class, as_program = (el.run("sawtooth", set={CONTROLLER: given, **more}) for given in kinds)
    assert as_program.flows["congestion_control"].to_pylist() == ["aimd", "aimd"]
    assert sum(as_class.flows["fast_retran"].to_pylist()) > 4, "losses, so that the cut is compared as well"
    same_but_the_name(as_class, as_program)
    el.testing.check_congestion_control(el.Program(program=str(built)), cases=20, days=False)
    assert as_program.manifest["guests"] == [
        {"program": str(built), "source_sha256": hashlib.sha256(built.read_bytes()).hexdigest()}
    ]


REFUSED = {
    "ended with status 3; it wrote on stderr: no cheese": "print('no cheese', file=sys.stderr); sys.exit(3)",
    "was ended by SIGSEGV": "os.kill(os.getpid(), signal.SIGSEGV)",
    "did not answer line 1 within 0.3 s": "time.sleep(60)",
    "answered hello with protocol 2; this elephan speaks protocol 1": "answer['protocol'] = 2",
    'answered hello with the call "on_ak", which nothing makes; did you mean "on_ack"?': "answer['calls'] = ['on_ak']",
    "answered hello with none of on_ack, on_round and on_delivery in calls": "answer['calls'] = ['on_sent']",
    'answered hello with "slow_strat", which nothing asks for; did you mean "slow_start"?': "answer['slow_strat'] = True",
    "answered hello with slow_start 1, which is neither true nor false": "answer['slow_start'] = 1",
    'answered hello with the state "cwnd", which is no name of its own': "answer['states'] = ['cwnd']",
    "answered hello with calls 3, which is no list of names": "answer['calls'] = 3",
    "said: share must be from 0 to 1": "answer = dict(n=n, error='share must be from 0 to 1')",
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_program_that_says_no_sensible_hello_is_refused_before_the_run(tmp_path: Path, what: str) -> None:
    path = program(tmp_path, first=REFUSED[what])
    with pytest.raises(el.InputError) as caught:
        run(path, deadline="300 ms" if "within" in what else "10 s")
    assert f"the program {what}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_started_is_refused(tmp_path: Path) -> None:
    with pytest.raises(el.InputError, match=r'congestion_control\.program: "\./nothing": .*nothing: No such file or directory'):
        run("./nothing")
    path = program(tmp_path)
    path.chmod(0o644)
    with pytest.raises(el.InputError, match=r"cannot be started: Permission denied; chmod \+x "):
        run(path)
    path.write_text("x = 1\n")
    path.chmod(0o755)
    with pytest.raises(el.InputError, match="Exec format error; it is neither a program for this machine nor a script that begins"):
        run(path)
    path.write_text("#!/nowhere/python\n")
    with pytest.raises(el.InputError, match="No such file or directory; its first line names an interpreter that is not there"):
        run(path)
    with pytest.raises(el.InputError, match="is not a regular file"):
        run(tmp_path)
    with pytest.raises(el.InputError, match="a deadline is longer than 0 s"):
        run(program(tmp_path), deadline="0 s")


# At the 20th ACK.
FAILS = {
    "the program ended with status 3; it wrote on stderr: no cheese": "print('no cheese', file=sys.stderr); sys.exit(3)",
    "the program was ended by SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "the program did not answer line 20 within 0.3 s": "time.sleep(60)",
    "the program closed its output": "os.close(1); time.sleep(60)",
    "the program answered line 19 when it was asked line 20": "answer['n'] = n - 1",
    'the program answered line "20" when it was asked line 20': "answer['n'] = str(n)",
    "the program answered what is no JSON (NaN is no number of JSON)": "answer['cwnd'] = float('nan')",
    "the program answered what is no JSON (Expecting value: line 1 column 1 (char 0)): ?": "print('?', flush=True); continue",
    "the program answered [1], which is no JSON object": "print([1], flush=True); continue",
    'the program answered "cwdn"; did you mean "cwnd"?': "answer['cwdn'] = 1",
    'the program answered cwnd "much", which is no number': "answer['cwnd'] = 'much'",
    "the program answered cwnd true, which is no number": "answer['cwnd'] = True",
    "the program answered cwnd null, which is no number": "answer['cwnd'] = None",
    "the program answered timer 0: timer must be None or a time after now": "answer['timer'] = 0",
    "the program answered pacing_rate -1: pacing_rate must be None or a positive number": "answer['pacing_rate'] = -1",
    "the program said: division by zero": "answer = dict(n=n, error='division by zero')",
    "the program answered more than one line to line 20": "os.write(1, (json.dumps(answer) + '\\n{}').encode()); continue",
    "the program answered more than": "sys.stdout.write('x' * 10_000_000); sys.stdout.flush()",
    "the program answered": "[print('{}', flush=True) for _ in iter(int, 1)]",  # without end
    "within 0.3 s; it wrote on stderr: help": "[print('help', file=sys.stderr, flush=True) for _ in iter(int, 1)]",
}


@pytest.mark.parametrize("what", FAILS)
def test_a_program_that_fails_ends_the_run_with_one_line(tmp_path: Path, what: str) -> None:
    path = program(tmp_path, each=f"if n == 20: {FAILS[what]}")
    with pytest.raises(el.ElephanError) as caught:
        run(path, deadline="300 ms" if "within" in what else "10 s")
    line = str(caught.value)
    assert caught.value.exit_status == 1
    assert re.match(
        r"mine\.on_ack failed in flow 0 \(reno: sender\[0\] -> receiver\[0\]\) at [0-9.]+ s, seed 1: the program ", line
    ), line
    assert what in line
    assert "\n" not in line
    assert len(line) < 600


def test_megabytes_on_stderr_do_no_harm(tmp_path: Path) -> None:
    quiet, loud = (
        program(tmp_path, name="quiet"),
        program(tmp_path, each="if n % 100 == 0: sys.stderr.write('x' * 1_000_000)", name="loud"),
    )
    same_but_the_name(run(quiet), run(loud))


def test_what_does_not_end_is_killed_with_what_it_started(tmp_path: Path) -> None:
    path = program(tmp_path, first="signal.signal(signal.SIGTERM, signal.SIG_IGN)", last="os.fork(); time.sleep(60)")
    run(path)
    assert alive(path) == []


def test_an_interrupt_of_a_program_that_hangs(tmp_path: Path) -> None:
    path = program(tmp_path, each=f"if n == 20: open({str(tmp_path / 'hangs')!r}, 'w').close(); time.sleep(60)")
    call = [sys.executable, "-m", "elephan", "run", "sawtooth", "-s", f'{CONTROLLER}={{ program = "./mine" }}']
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    running = subprocess.Popen(call, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until((tmp_path / "hangs").exists, "the line at which the program hangs")
    _, errors, used_s = end(running)
    assert (running.returncode, errors) == (130, "elephan: interrupted\n")
    assert used_s < ANSWER_S
    assert alive(path) == []


def test_a_program_hears_of_everything(tmp_path: Path) -> None:
    """Each call that it asks for comes, with the fields of the page; what it sets is set."""
    calls = ["init", "on_sent", "on_delivery", "on_ack", "on_round", "on_congestion", "on_undo", "on_timer"]
    log = tmp_path / "log"
    path = program(
        tmp_path,
        first=f"answer.update(calls={calls}, measures_rate=True, states=['acks']); log = open({str(log)!r}, 'w'); acks = 0",
        each="pass",
    )
    path.write_text(
        path.read_text().replace(
            "    answer = dict(n=n, cwnd",
            "    log.write(text); log.flush(); answer = dict(n=n)\n"
            "    if line['call'] == 'on_delivery': acks += 1; answer.update(acks=acks)\n"
            "    if line['call'] == 'on_round': answer.update(timer=line['now'] + 0.001, pacing_rate=2e7)\n"
            "    if line['call'] == 'on_congestion': answer.update(cwnd=line['cwnd'] / 2, ssthresh=line['cwnd'] / 2)\n"
            "    if line['call'] != 'on_ack': say(**answer); continue\n    answer = dict(n=n, cwnd",
        )
    )
    run(path)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    by_call = {line["call"]: line for line in lines}
    assert set(by_call) == set(calls) - {"on_undo"}
    assert lines[0] == {"n": 2, "call": "init", "id": 0, "now": lines[0]["now"], "mss": 1448, "cwnd": 14480, "ssthresh": None}
    common = {"n", "call", "id", "now", "mss", "cwnd", "ssthresh"}
    page = (EXAMPLES.parents[1] / "programs.md").read_text()
    for call, line in by_call.items():
        row = next(row for row in page.splitlines() if row.startswith(f"| `{call}`"))
        assert set(line) - common == set(re.findall(r"`(\w+)`", row.split("|")[2])), call
    assert [line["n"] for line in lines] == list(range(2, len(lines) + 2))


def test_a_program_that_changes_behind_its_file_is_asked_anew(tmp_path: Path) -> None:
    """A script that starts something else has the same file when that changes."""
    inner, outer = program(tmp_path, name="inner"), tmp_path / "outer"
    outer.write_text(f"#!/bin/sh\nexec {inner}\n")
    outer.chmod(0o755)
    run(outer)
    program(tmp_path, name="inner", first="answer['states'] = ['more']")
    with pytest.raises(el.ElephanError, match="answered hello otherwise than before"):
        run(outer)
    run(outer)


def test_stepping_by_hand(tmp_path: Path) -> None:
    one = el.cc.new(el.Program(program=str(program(tmp_path))), mss=1000, initial_window=10)
    one.on_loss(0.1, 1000, 10_000)  # the cut of RFC 5681, as the program does not ask for it
    one.on_ack(0.2, 1000, 0.1, 5000)
    assert one.cwnd == 5000 + 1000 * 1000 / 5000
    assert len(alive(tmp_path)) == 1
    del one
    assert alive(tmp_path) == []
    two = el.tcp.Endpoint("rfc", congestion_control=el.Program(program=str(tmp_path / "mine")))
    del two
    found = el.cc.describe(el.Program(program=str(tmp_path / "mine"), params={"share": 0.1}))
    assert (found["name"], [one["name"] for one in found["parameters"]]) == ("mine", ["share"])


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reno in a program is Reno, so both rows of the comparison are the same."""
    monkeypatch.chdir(tmp_path)
    program(tmp_path)
    call = ["compare", "reno,./mine:share=0.1", "--scenario", "sawtooth", "-s", "duration=12 s", "-s", "stack=rfc"]
    assert cli.status_of([*call, "-n", "1", "--out", "r", "--json"]) == 0
    found = json.loads((tmp_path / "r" / "compare.json").read_text())["variants"]
    assert [one["variant"] for one in found] == ["reno", "mine share 0.1"]
    assert found[0]["statistics"] == found[1]["statistics"]
    assert [row["program"] for row in json.loads((tmp_path / "r" / "manifest.json").read_text())["guests"]] == ["./mine"]
    with pytest.raises(el.InputError, match=r'a program is written as \{ program = "\./mine\.py" \}'):
        read_controllers("./mine.py")


def test_a_program_runs_by_the_rule_of_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir(), other.mkdir()
    path, elsewhere = program(home), program(other)
    text = open_source("sawtooth").text.replace('congestion_control = "reno"', 'congestion_control = { program = "PLACE" }')
    (home / "a.toml").write_text(text.replace("PLACE", "./mine"))
    (home / "b.toml").write_text(text.replace("PLACE", "../other/mine"))
    el.run(home / "a.toml", set=SHORT)
    with pytest.raises(el.InputError, match=r"no code beside the scenario is run here"):
        el.run(home / "a.toml", set=SHORT, python_from="none")
    with pytest.raises(el.InputError, match=r"is not in the folder of the scenario; its code runs only where the caller names it"):
        el.run(home / "b.toml", set=SHORT)
    el.run(home / "b.toml", set=SHORT, python_from=elsewhere)
    path.chmod(0o777)
    with pytest.raises(el.InputError, match=r"everyone may write it"):
        el.run(home / "a.toml", set=SHORT)
    monkeypatch.chdir(home)
    with pytest.raises(el.InputError, match=r"is not beside the scenario"):
        el.run(text.replace("PLACE", "./mine"), set=SHORT)


def test_the_file_of_a_program_is_a_part_of_the_key(tmp_path: Path) -> None:
    def key(each: str) -> str:
        path = program(tmp_path, each=each)
        set_in = {**SHORT, CONTROLLER: {"program": str(path)}}
        found = Identities("usual").of(open_source("sawtooth").with_trust(None, set_in), set_in, 1)
        assert found is not None
        return found.key

    assert key("pass") == key("pass") != key("0")


def test_a_program_travels_with_the_files_beside_it(tmp_path: Path) -> None:
    """What arrives is what was read when the job was packed, in a private folder, whatever is at its path by then."""
    path, helper = program(tmp_path), tmp_path / "helper.py"
    helper.write_text("GAIN = 1\n")
    set_in = {**SHORT, CONTROLLER: {"program": str(path)}}
    (job,) = packed([Job(open_source("sawtooth").with_trust(None, set_in), set_in, 1, Variant("one"))])
    job = travel.pack(job)
    assert job.source.agreed.pack is not None
    before, _ = path.read_text(), job.source.agreed.pack.content(path)
    sent = pickle.dumps(job)
    path.unlink()
    helper.write_text("GAIN = 2\n")
    pack = pickle.loads(sent).source.agreed.pack
    copy = pack.copy_of(path)
    assert (copy.read_text(), copy.with_name("helper.py").read_text()) == (before, "GAIN = 1\n")
    assert os.access(copy, os.X_OK)
    assert not os.access(copy.with_name("helper.py"), os.X_OK)
    assert stat.S_IMODE(copy.parents[1].stat().st_mode) == 0o700


@pytest.mark.slow  # 2 s: processes start
def test_processes_of_this_machine_run_a_program(tmp_path: Path) -> None:
    short = {**SHORT, "duration": "2 s", CONTROLLER: {"program": str(program(tmp_path))}}
    here, there = (el.sweep("sawtooth", set=short, repetitions=2, on=on, workers=1) for on in ("threads", "processes"))
    assert there.table.equals(here.table)


@pytest.mark.slow  # 8 s
def test_conformance_of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that never grows fails, and its story runs from its folder alone."""
    monkeypatch.chdir(tmp_path)
    program(tmp_path, each="answer['cwnd'] = 2 * line['mss']", name="slow")
    found = el.conformance("./slow", quick=True, only=["bounds", "buffer-1"], out="out", report=False)
    verdicts = {one.check.id: one.verdict for one in found.findings}
    assert verdicts["buffer-1"] == "failed"
    assert el.run(tmp_path / "out" / "stories" / "buffer-1.toml").flows["congestion_control"].to_pylist()[0] == "slow"


def test_a_program_that_hangs_costs_its_deadline_once(tmp_path: Path) -> None:
    """It hangs in many of the stories among which the harness looks for the shortest; the other checks do not run it any more."""
    each = 'answer = answer if not line["app_limited"] else dict(n=n); line["rtt"] and line["rtt"] > 2 and time.sleep(60)'
    made = program(tmp_path, each)
    found = el.conformance({"program": str(made), "deadline": "2 s"}, only=["bounds", "ten-days", "buffer-1"], stories=False)
    bounds, *others = found.findings
    assert (bounds.verdict, [one.verdict for one in others]) == ("failed", ["not sure", "not sure"])
    assert re.search(r"did not answer line \d+ within 0.3 s, after a line that it did not answer within 2 s", bounds.message)
    assert bounds.message.count("\n") < 6, "the story was shortened all the same"
    assert [one.message for one in others] == ["not run: the program did not answer in bounds"] * 2
    assert len(found.trials) == 0


def test_conformance_tells_what_a_program_cost(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = program(tmp_path, last="open({!r}, 'a').write(str(n) + chr(10))".format(str(tmp_path / "counts")))
    out = tmp_path / "out"
    assert cli.status_of(["conformance", str(made), "--only", "start", "--quick", "--out", str(out), "--no-stories"]) == 0
    told = capfd.readouterr()
    # Of each process, hello included; the first only says hello, before the run.
    counted = sum(int(line) for line in (tmp_path / "counts").read_text().split()) - 1
    found = json.loads((out / "conformance.json").read_text())
    assert found["answers"] == counted > 1000
    assert 1e-6 < found["answers_s"] / found["answers"] < 0.1
    assert f"The program answered {f'{counted:,}'.replace(',', chr(0x202F))} lines in " in (out / "report.html").read_text()
    assert el.load(out).as_dict()["answers"] == counted
    assert "mine answered" not in told.out


def test_a_class_has_no_answers_to_tell(tmp_path: Path) -> None:
    found = el.conformance("reno", only=["bounds"], quick=True)
    assert (found.as_dict()["answers"], found.as_dict()["answers_s"]) == (0, 0.0)
