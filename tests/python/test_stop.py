"""Whatever takes long answers Ctrl-C, and what would take for ever, or all memory, is refused with its number."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import elephan as el
import pytest
from elephan import _core
from elephan.cli import ends
from elephan.scenario.trust import trust
from waiting import ANSWER_S, PATIENCE_S, end, processor_s, until

FAT_TREE = """
duration = "1 s"
[template]
kind = "fat-tree"
k = 40
rate = "1 Gbps"
delay = "1 us"
[[traffic]]
from = "host"
to = "host"
pairing = "permutation"
kind = "bulk"
"""
PATH = """
stack = "rfc"
duration = "{duration}"
[template]
kind = "path"
hops = [{{ rate = "1 Gbps", delay = "1 ms" }}, {{ rate = "1 Gbps", delay = "1 ms" }}]
[[traffic]]
from = "sender"
to = "receiver"
{traffic}
"""
HOSTS = "".join(f"[hosts.h{i}]\n" for i in range(300_000))
TRAFFIC = '[[traffic]]\nfrom = "h0"\nto = "h1"\nkind = "bulk"\n'
UNLINKED = 'duration = "1 s"\n' + HOSTS + TRAFFIC


def interrupted(tmp_path, text, after_s):
    """Exit code, processor time from SIGINT to the end in seconds, and what was written to stderr. SIGINT comes when the command
    has used `after_s` of processor time, so that a slow or busy machine is interrupted where a fast one is.
    """
    file = tmp_path / "scenario.toml"
    file.write_text(text)
    # A test may run in the background, where SIGINT is ignored: the command must not be.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"from elephan.cli import main; sys.argv = ['elephan', 'run', {str(file)!r}]; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    until(lambda: process.poll() is not None or processor_s(process.pid) > after_s, f"{after_s} s of processor time")
    _, told, used_s = end(process)
    return process.returncode, used_s, told


@pytest.mark.parametrize("after_s", [0.5, 1.5, 3.0, 6.0, 9.0])
def test_a_large_fat_tree_answers_ctrl_c(tmp_path, after_s):
    code, used_s, told = interrupted(tmp_path, FAT_TREE, after_s)
    assert (code, told.splitlines()[-1]) == (130, "elephan: interrupted")
    assert used_s < ANSWER_S
    assert "Traceback" not in told


CTRL_C = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"


@pytest.mark.parametrize(
    "during",
    [
        f"exec({CTRL_C!r})",  # as in the methods of a dataclass, which are a text: the interpreter takes note
        f"try:\n        exec({CTRL_C!r})\n    except KeyboardInterrupt:\n        raise ImportError('numpy is broken')",
    ],
)
def test_ctrl_c_while_modules_are_loaded_is_an_interrupt(tmp_path, during):
    (tmp_path / "loads.py").write_text(
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"import elephan.cli, elephan.cli.app\ndef run(words):\n    {during}\nelephan.cli.app.run = run\n"
        "sys.argv = ['elephan', 'list']; elephan.cli.main()"
    )
    # Of a module, as in `python -m elephan`, the interpreter asks at its end whether Ctrl-C was left unhandled.
    done = subprocess.run([sys.executable, "-m", "loads"], capture_output=True, text=True, timeout=PATIENCE_S, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (130, "elephan: interrupted\n")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "work",
    [
        "Path('begun').touch(); sum(range(10**15))",  # keeps the interpreter's lock, and never looks at signals
        "Lost(); exec('while True: pass')",  # what is raised in a destructor is lost
    ],
)
def test_what_python_cannot_interrupt_ends_all_the_same(tmp_path, work, how):
    (tmp_path / "stuck.py").write_text(
        "import sys\nfrom pathlib import Path\nimport elephan.cli, elephan.cli.app\nfrom elephan.cli import ends\n"
        "class Lost:\n    def __del__(self):\n        Path('begun').touch()\n        while True: pass\n"
        f"def run(words):\n    ends.while_running()\n    {work}\n"
        "elephan.cli.app.run = run\nsys.argv = ['elephan', 'list']\nelephan.cli.main()"
    )
    process = subprocess.Popen([sys.executable, "stuck.py"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    until((tmp_path / "begun").exists, "the call")
    _, said, used_s = end(process, how)
    assert (process.returncode, said) == (130, "elephan: interrupted\n")
    assert used_s < ANSWER_S + ends.PATIENCE_S


def test_hosts_without_links_are_told_in_a_list_that_ends(tmp_path):
    with pytest.raises(_core.ScenarioError) as found:
        _core.resolve(UNLINKED, "x.toml", "toml")
    lines = found.value.errors
    assert (len(lines), lines[-1]) == (21, "x.toml: and 299980 more")
    assert lines[0].endswith("no link reaches h0")


def cancelled_s(work, after_s=0.3):
    """Processor time from the raising of the flag to the end of `work(cancel)`, s. The flag is raised after some processor time."""
    cancel, raised, begin = _core.Cancel(), [], time.process_time()

    def raise_it():
        until(lambda: time.process_time() > begin + after_s)
        raised.append(time.process_time())
        cancel.cancel()

    other = threading.Thread(target=raise_it)
    other.start()
    with pytest.raises(_core.Cancelled):
        work(cancel)
    used_s = time.process_time() - raised[0]
    other.join()
    return used_s


def test_reading_looks_at_the_flag():
    assert cancelled_s(lambda cancel: _core.resolve(FAT_TREE, "x.toml", "toml", cancel=cancel), 0.05) < ANSWER_S


def test_building_looks_at_the_flag():
    assert cancelled_s(lambda cancel: _core.run(FAT_TREE, "x.toml", "toml", cancel=cancel), 3.0) < ANSWER_S


def test_one_event_looks_at_the_flag():
    """A block of 150 B: 6.4 million go into the send buffer of 1 GiB at the first instant."""
    text = PATH.format(duration="1 s", traffic='kind = "disk-copy"\nblock = "150 B"\nstreams = 4')
    assert cancelled_s(lambda cancel: _core.run(text, "x.toml", "toml", cancel=cancel)) < ANSWER_S


def test_a_generator_looks_at_the_flag():
    """Each of 2,000 flows draws millions of ON periods before its first packet."""
    source = 'kind = "onoff"\nsources = 400\npacket_size = "1 B"\nload = "8 Mbps"\non = "1 us"\nconnections = 2000'
    text = PATH.format(duration="1 s", traffic=source)
    assert cancelled_s(lambda cancel: _core.run(text, "x.toml", "toml", cancel=cancel), 0.2) < ANSWER_S


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        (
            'kind = "onoff"\nsources = 400\npacket_size = "1 B"\nload = "100 bps"\non = "1 ms"\nconnections = 20',
            "more than 2500 such periods",
        ),
        ('kind = "disk-copy"\nblock = "16 B"', "blocks go into the send buffer of a stream at once, more than 10000000"),
        ('kind = "bulk"\nconnections = 2000001', "1 pairs x 2000001 are more than 2000000 flows"),
    ],
)
def test_what_is_absurd_is_refused_with_its_number(traffic, message):
    with pytest.raises(_core.ScenarioError, match=message) as found:
        _core.resolve(PATH.format(duration="1 s", traffic=traffic), "x.toml", "toml")
    assert len(str(found.value).splitlines()) == 1


@pytest.mark.parametrize("what", ["pipe", "folder", "device"])
def test_only_regular_files_are_read(tmp_path, what):
    file = {"pipe": tmp_path / "pipe.csv", "folder": tmp_path / "folder.csv", "device": "/dev/zero"}[what]
    os.mkfifo(file) if what == "pipe" else None
    file.mkdir() if what == "folder" else None
    why = "is a folder" if what == "folder" else "is no regular file"
    for traffic in (f'kind = "replay"\nfile = "{file}"', f'kind = "messages"\ngap = "1 ms"\nsize = {{ cdf = "{file}" }}'):
        with pytest.raises(_core.ScenarioError, match=f"{file}: {why}"):
            _core.resolve(PATH.format(duration="1 s", traffic=traffic), "x.toml", "toml", agreed=trust(files_from=file))
    with pytest.raises(_core.ScenarioError, match=why):
        _core.analyze([str(file)])
    for open_file in (el.run,) if what == "pipe" else (el.analyze, el.run):  # a capture may come through a pipe
        with pytest.raises(el.InputError, match=why):
            open_file(file if what != "device" else os.fspath(file))


@pytest.mark.parametrize("what", ["pipe", "folder", "socket", "device"])
def test_code_and_scripts_are_regular_files(tmp_path: Path, what: str) -> None:
    """What is named as a congestion control, a scenario or a shell script of packetdrill is no pipe, which may never end."""
    for name in ("mine.py", "scenario.toml", "set.sh"):
        file = tmp_path / name
        if what == "pipe":
            os.mkfifo(file)
        elif what == "folder":
            file.mkdir()
        elif what == "device":
            file.symlink_to("/dev/zero")
        else:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(file))
    control = {"python": f"{tmp_path / 'mine.py'}:Mine"}
    with pytest.raises(el.InputError, match="is not a regular file"):
        el.run("sawtooth", set={"traffic[0].congestion_control": control}, python_from=tmp_path)
    with pytest.raises(el.InputError, match=r"is no regular file|is a folder"):
        el.run(tmp_path / "scenario.toml")
    report = el.packetdrill.run_text("`./set.sh`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n", path=tmp_path / "x.pkt")
    assert "the file ./set.sh" in str(report)


def test_a_copy_whose_stream_was_given_up_takes_nothing_more() -> None:
    """A stream without a connection took block after block at one instant, without end (found by the fuzz)."""
    traffic = 'kind = "disk-copy"\nstreams = 2\ntcp = { rto_initial = "6 us", user_timeout = "162 us", send_buffer = "1550 B" }'
    run = el.run(PATH.format(duration="20 ms", traffic=traffic))
    assert run.summary["given_up"] > 0
    assert run.summary["events"] < 10_000


def test_a_flow_cut_off_at_what_has_arrived_is_complete() -> None:
    """The stop is at the last instant: nothing comes after it that could notice (found by the fuzz)."""
    run = el.run(
        """
        template = { kind = "parking-lot", rate = "20 Mbps", delay = "1 us", hops = 2 }
        stack = "linux"
        duration = "10 ms"
        [hosts.sender]
        cpu = { interrupt = "1 ms" }
        [[traffic]]
        from = "sender"
        to = "cross_sender[1]"
        stop = "10 ms"
        kind = "bulk"
        size = "20 KB"
        """
    )
    flow = run.flows.to_pylist()[0]
    assert flow["delivered_bytes"] == flow["size_bytes"] == 14_480
    assert flow["completed"]


def test_a_roce_flow_cut_off_at_what_has_arrived_is_complete() -> None:
    """355 bytes wait behind a pace of 1 kb/s when the stop comes, 1000 have arrived (found by the fuzz)."""
    run = el.run(
        """
        template = { kind = "dumbbell", pairs = 3, rate = "2 Mbps", delay = "1 us" }
        duration = "10 ms"
        [hosts.receiver]
        transmit = { pacing = "1 kbps" }
        [[traffic]]
        from = "receiver"
        to = "sender[2]"
        connections = 2
        stop = "6 ms"
        kind = "bulk"
        size = "1355 B"
        transport = "roce"
        """
    )
    for flow in run.flows.to_pylist():
        assert flow["completed"] == (flow["delivered_bytes"] == flow["size_bytes"])
    assert any(flow["completed"] for flow in run.flows.to_pylist())
