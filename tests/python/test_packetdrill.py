"""The command `elephan packetdrill` and `el.packetdrill`: verdicts, exit status, tables. The scripts run in the crate."""

import json
from pathlib import Path
from typing import Any

import elephan as el
import pytest
from elephan import cli
from elephan.base.errors import InputError

PASSES = """// RFC 9293 section 3.5
0  socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 close(3) = 0
"""
DIFFERS = PASSES.replace("= 0", "= 1")
CANNOT = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 sendto(3, ..., 10, MSG_OOB, ..., ...) = 10\n"
INVALID = "0 socket(\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in [("a/passes", PASSES), ("a/differs", DIFFERS), ("b/cannot", CANNOT), ("b/invalid", INVALID)]:
        path = tmp_path / f"{name}.pkt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_verdicts(folder):
    found = {report.path.stem: report for report in el.packetdrill.run([folder])}
    assert {name: report.verdict for name, report in found.items()} == {
        "passes": "pass",
        "differs": "differs",
        "cannot": "cannot-run",
        "invalid": "invalid",
    }
    assert (found["differs"].line, found["differs"].expected, found["differs"].got) == (3, "1", "0")
    assert found["cannot"].missing == ["urgent data"]
    assert found["invalid"].line == 2


@pytest.mark.parametrize(
    ("names", "status"),
    [(["a/passes"], 0), (["a/passes", "a/differs"], 1), (["b/cannot"], 1), (["a/passes", "b/invalid"], 2), (["none"], 2)],
)
def test_exit_status(folder, names, status, capsys):
    assert cli.status_of(["packetdrill", *(str(folder / f"{name}.pkt") for name in names)]) == status
    capsys.readouterr()


def test_what_is_printed(folder, capsys):
    cli.status_of(["packetdrill", str(folder)])
    out = capsys.readouterr().out
    assert "line 3: +0 close(3) = 1" in out
    assert "expected  1" in out
    assert "got       0" in out
    assert "\x1b" not in out
    cli.status_of(["packetdrill", "--json", str(folder)])
    assert [row["verdict"] for row in json.loads(capsys.readouterr().out)] == ["differs", "pass", "cannot-run", "invalid"]
    cli.status_of(["packetdrill", "--table", str(folder)])
    assert capsys.readouterr().out.splitlines()[-1].split() == ["all", "4", "1", "1", "1", "1"]
    assert cli.status_of(["packetdrill", "--trace", str(folder / "a/passes.pkt")]) == 0
    assert "0.000000" in capsys.readouterr().out


def test_bad_input(tmp_path, capsys):
    assert cli.status_of(["packetdrill", str(tmp_path)]) == 2
    assert "no .pkt file" in capsys.readouterr().err
    (tmp_path / "x.pkt").write_text(PASSES)
    assert cli.status_of(["packetdrill", "--stack", "linus", str(tmp_path)]) == 2
    assert "no stack" in capsys.readouterr().err
    assert cli.status_of(["packetdrill", "/dev/zero"]) == 2
    capsys.readouterr()


def connected(stack="linux", **options):
    a, b = el.tcp.Endpoint(stack, isn=100, **options), el.tcp.Endpoint(stack, isn=300)
    b.listen(0.0)
    a.connect(0.0)
    for _ in range(2):
        for seg in a.poll_transmit(0.0):
            b.on_segment(0.0, seg)
        for seg in b.poll_transmit(0.0):
            a.on_segment(0.0, seg)
    return a, b


def test_info_has_the_names_and_units_of_tcp_info():
    a, _ = connected()
    info = a.info()
    assert info["state"] == "established"
    assert info["ca_state"] == "open"
    # Linux tcp_get_info: TCPI_OPT_TIMESTAMPS | TCPI_OPT_SACK | TCPI_OPT_WSCALE; TCP_INFINITE_SSTHRESH; 1460 - 12 bytes of payload.
    assert (info["options"], info["snd_ssthresh"], info["snd_cwnd"], info["snd_mss"]) == (7, 0x7FFFFFFF, 10, 1448)
    a.write(0.0, 3000)
    sent = a.poll_transmit(0.0)
    assert len(sent) == 3
    info = a.info()
    assert (info["unacked"], info["notsent_bytes"], info["delivered"], info["bytes_sent"]) == (3, 0, 1, 3000)
    assert a.ss().startswith("established cubic wscale:")
    assert "unacked:3" in a.ss()


def test_options_change_while_the_connection_lives():
    a, _ = connected(nagle=True)
    a.write(0.0, 100)
    assert [seg["len"] for seg in a.poll_transmit(0.0)] == [100]
    a.write(0.0, 100)
    assert a.poll_transmit(0.0) == []
    a.set(0.0, nodelay=True)
    assert [seg["len"] for seg in a.poll_transmit(0.0)] == [100]
    a.set(0.0, cork=True)
    a.write(0.0, 100)
    assert a.poll_transmit(0.0) == []
    a.set(0.0, cork=False)
    assert [seg["len"] for seg in a.poll_transmit(0.0)] == [100]
    a.set(0.0, congestion_control="reno", send_buffer=1000)
    assert "reno" in a.ss()
    assert a.write(0.0, 5000) == 700
    with pytest.raises(el.InputError):
        a.set(0.0, congestion_control="nonsense")
    with pytest.raises(el.InputError):
        a.set(0.0, send_buffer=0)


def test_records_more_abort_and_local_drop():
    a, _ = connected()
    a.write(0.0, 100, more=True)
    assert a.poll_transmit(0.0) == []
    a.write(0.0, 100, eor=True)
    a.write(0.0, 50)
    # MSG_EOR: no segment holds bytes of two records.
    sent = a.poll_transmit(0.0)
    assert [seg["len"] for seg in sent] == [200, 50]
    a.on_local_drop(0.0, sent[-1])
    assert a.stats["send_stall"] == 1
    # RFC 9293 section 3.10.5: ABORT sends a reset with SND.NXT.
    a.abort(0.1)
    (reset,) = a.poll_transmit(0.1)
    assert "RST" in reset["flags"]
    assert a.state == "closed"


@pytest.mark.parametrize("paths", [None, 5, "one.pkt", [None], [b"one.pkt"], [""]])
def test_what_is_no_list_of_scripts(paths: Any) -> None:
    with pytest.raises(InputError, match="is no "):
        list(el.packetdrill.run(paths))


def test_a_script_without_a_line_cannot_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("", "// only a remark\n", "--tolerance_usecs=10000\n"):
        (tmp_path / "empty.pkt").write_text(text)
        report = el.packetdrill.run_file(tmp_path / "empty.pkt")
        assert (report.verdict, report.missing) == ("cannot-run", ["no line"])
    assert cli.status_of(["packetdrill", str(tmp_path / "empty.pkt")]) == 1
    assert "line 1: no line\n" in capsys.readouterr().out


def test_an_assertion_on_constants_says_what_it_got() -> None:
    report = el.packetdrill.run_text("0 %{ assert 1 == 2 }%\n")
    assert (report.verdict, report.expected, report.got) == ("differs", "1 == 2", "False")


LISTENS = """{options}0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 60000 <mss 1000>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 60000
+0 accept(3, ..., ...) = 4
"""


def test_a_trace_has_the_packets_that_timers_send(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # RFC 6298 on Linux: SRTT of the handshake 100 ms and 200 ms of variance; the timeout doubles.
    script = LISTENS.format(options="") + "+0 write(4, ..., 1000) = 1000\n+1 close(4) = 0\n"
    (tmp_path / "x.pkt").write_text(script)
    assert cli.status_of(["packetdrill", "--trace", str(tmp_path / "x.pkt")]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    sent = [line[0] for line in lines if "1:1001(1000)" in line and ">" in line]
    assert sent == ["0.100000", "0.400000", "1.000000"]


def test_joined_segments_have_the_size_that_the_option_says() -> None:
    # Linux tcp_measure_rcv_mss goes by gso_size, which packetdrill's option --mss sets. It never exceeds the receiver's own MSS.
    for options, rcv_mss in [("", 1460), ("--mss=1000\n", 1000)]:
        script = LISTENS.format(options=options) + "+.1 < P. 1:2001(2000) ack 1 win 60000\n+0 > . 1:1(0) ack 2001\n"
        report = el.packetdrill.run_text(script + f"+0 %{{ assert tcpi_rcv_mss == {rcv_mss}, tcpi_rcv_mss }}%\n")
        assert report.verdict == "pass", (options, report.expected, report.got)
    assert el.packetdrill.run_text("--mss=none\n" + PASSES).verdict == "invalid"
