"""Controllers that go by delay, beside receivers that delay their acknowledgements."""

import elephan as el
import pytest
from elephan import measures

SWIFT = '{ kind = "swift", over_min = false, base_target = "40 us" }'


def star(stack: str, senders: int, rate: str, duration: str, traffic: str, warmup: str = "0 s") -> el.Run:
    return el.run(
        f"""
        duration = "{duration}"
        warmup = "{warmup}"
        hosts = {{ s = {{ count = {senders}, stack = "{stack}" }}, r = {{ stack = "{stack}" }} }}
        switches = {{ sw = {{}} }}
        [[links]]
        between = ["s", "sw"]
        rate = "{rate}"
        delay = "1 us"
        [[links]]
        between = ["sw", "r"]
        rate = "{rate}"
        delay = "1 us"
        queue = {{ kind = "fifo", limit = "16 MB" }}
        {traffic}
        """
    )


@pytest.mark.parametrize("stack", ["rfc", "linux", "windows"])
@pytest.mark.parametrize("law", [SWIFT, '"swift"', '"copa"'])
def test_a_delayed_acknowledgement_is_no_delay_of_the_network(stack: str, law: str) -> None:
    """40 x 100 kB at 10 Gb/s take 4 MB / (1448/1538 x 10 Gb/s) = 3.4 ms, as where each segment is acknowledged at once.

    Kumar et al. 2020 subtract what the receiver holds. Stack rfc completed no round in 3 s with Swift, linux 3 of 796 ms.
    """
    traffic = f'[[traffic]]\nfrom = "s"\nto = "r"\nkind = "incast"\nsize = "100 kB"\ncongestion_control = {law}'
    run = star(stack, 40, "10 Gbps", "60 ms", traffic)
    assert measures.statistic(run, "round_time.mean") == pytest.approx(3.4e6, rel=0.02)
    assert measures.statistic(run, "round_time.count") == 17


@pytest.mark.parametrize("stack", ["rfc", "linux"])
def test_ten_flows_of_swift_share_a_gigabit(stack: str) -> None:
    """One of ten got 941 Mb/s, the whole link, while the others waited for delayed ACKs."""
    traffic = f'[[traffic]]\nfrom = "s"\nto = "r"\nkind = "bulk"\ncongestion_control = {SWIFT}'
    run = star(stack, 10, "1 Gbps", "200 ms", traffic)
    assert measures.statistic(run, "goodput_bps.jain") > 0.98


@pytest.mark.parametrize("law", ['"swift"', SWIFT])
def test_a_late_flow_of_swift_gets_a_third(law: str) -> None:
    """Three flows at 10 Gb/s that start at 0, 5 and 10 ms: 9 414 Mb/s of payload are 3 138 each.

    The smallest round trip of the third has the queue of the others in it; with a target that counts from there (`over_min`) it
    took 9 183.
    """
    flows = "".join(
        f'[[traffic]]\nname = "f{i}"\nfrom = "s[{i}]"\nto = "r"\nkind = "bulk"\nstart = "{5 * i} ms"\ncongestion_control = {law}\n'
        for i in range(3)
    )
    run = star("rfc", 3, "10 Gbps", "60 ms", flows, warmup="20 ms")
    last = measures.statistic(run, "goodput_bps[f2].mean")
    assert last == pytest.approx(3.138e9, rel=0.02)
