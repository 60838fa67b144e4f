import { expect, it } from "vitest";
import { reach, steps, type Packets } from "../src/model/packets";

it("draws an ACK line that stays until the next ACK", () => {
  const line = steps(Float64Array.of(1, 3, 4), Float64Array.of(0, 10, 20));
  expect([...line.t]).toEqual([1, 3, 3, 4, 4]);
  expect([...line.y]).toEqual([0, 0, 10, 10, 20]);
  expect(steps(new Float64Array(0), new Float64Array(0)).t).toHaveLength(0);
});
it("reaches over all segments", () => {
  const none = new Float64Array(0);
  const packets: Packets = {
    kinds: ["first"], truncated: false, sacks: { t: none, left: none, right: none }, acks: { t: Float64Array.of(1), ack: Float64Array.of(900), edge: Float64Array.of(1e9) },
    segments: { t: Float64Array.of(1, 2), seq: Float64Array.of(1000, 2000), end: Float64Array.of(2000, 3000), acked: none, kind: new Uint32Array(2) },
  };
  expect(reach(packets)).toEqual({ bottom: 774, top: 3126 });
});
