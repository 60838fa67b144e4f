import { describe, expect, it } from "vitest";
import type { Engine, Head } from "../src/engine/engine";
import { firstSample, probe, statesAt } from "../src/model/network";
import type { Port } from "../src/model/panels";
import type { Line, Picture } from "../src/model/picture";

const line = (port: number, paint: string, t: number[], y: number[]): Line => ({
  panel: "queue", role: "main", name: "", group: paint, paint, port, ask: { table: "port_samples", how: "value" },
  t: Float64Array.from(t), y: Float64Array.from(y), unit: "", thinned: false,
});
const picture = (sampled: boolean[], summary: Head): Picture => ({
  handle: 1, text: "x", seed: 1, summary, ports: sampled.map((own, port) => ({ port, sampled: own }) as Port),
}) as unknown as Picture;

describe("the network at one moment", () => {
  const lines = [
    line(0, "utilisation", [10, 20], [0.4, 0.9]), line(0, "queue_bytes", [10, 20], [0, 500]), line(0, "paused_ns", [10, 20], [0, 0.3]),
    line(1, "utilisation", [], []), line(1, "queue_bytes", [], []), line(1, "paused_ns", [], []),
  ];
  it("has no state of a port without a sample", () => {
    expect(statesAt(lines, 20)).toEqual(new Map([[0, { use: 0.9, queue: 500, paused: true }]]));
    expect(statesAt(lines, 5)).toEqual(new Map());
    expect([firstSample(lines), firstSample([])]).toEqual([10, Infinity]);
  });
  it("takes samples of all ports from the same run only", async () => {
    const asked: [string, object][] = [];
    const engine = (packets: number): Engine => ({
      kind: "native", onState: () => undefined,
      request: (method, params = {}) => {
        asked.push([method, params]);
        const head: Head = method === "ports" ? { value: [{ port: 0, sampled: true }] } : { handle: 7, summary: { packets } };
        return Promise.resolve({ head, body: new ArrayBuffer(0) });
      },
    });
    const { signal } = new AbortController();
    expect((await probe(engine(5), picture([true], { packets: 5 }), signal)).handle).toBe(1);
    expect(asked).toEqual([]);
    expect(await probe(engine(5), picture([true, false], { packets: 5 }), signal)).toEqual({ handle: 7, ports: [{ port: 0, sampled: true }], why: "" });
    expect(asked[0]).toEqual(["run", { text: "x", seed: 1, record: { ports: "all" } }]);
    const other = await probe(engine(6), picture([true, false], { packets: 5 }), signal);
    expect([other.handle, other.why]).toEqual([1, "a run with samples of all ports is not the same run"]);
  });
});
