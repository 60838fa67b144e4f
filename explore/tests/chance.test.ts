import { describe, expect, it } from "vitest";
import { around, bandOf, bySpan, intervals, onGrid, packed, power, warning, within, written, type Interval } from "../src/model/chance";
import type { Engine } from "../src/engine/engine";
import { numbers } from "../src/model/numbers";
import { show } from "../src/model/quantity";

const found = (more: Partial<Interval>): Interval => ({ n: 3, mean: 1, low: 0.5, high: 1.5, least: 0.8, most: 1.2, spread: 0.4, clear: true, seen: NaN, ...more });
const percent = (v: number) => show(v, "%");

describe("chance", () => {
  it("sends values by rows and reads what comes back", async () => {
    const asked: { samples: object[] }[] = [];
    const numbersOf: number[][] = [];
    const engine: Engine = {
      kind: "native",
      onState: () => undefined,
      request: (_, params, ask) => {
        asked.push(params as { samples: object[] });
        numbersOf.push([...new Float64Array(ask!.payload!)]);
        const body = Float64Array.of(2, 0.95, 0.58, 1, 0.9, 1, 0.1, 1, NaN, 1, 7, NaN, NaN, 7, 7, NaN, 0, 0.3).buffer;
        return Promise.resolve({ head: { offset: 0, rows: 2 }, body });
      },
    };
    const samples = [{ of: { kind: "share" as const }, rows: [[0.9, 1]] }, { of: { kind: "amount" as const }, rows: [[9]], less: [[2]], power: true }];
    const [[share], [apart]] = (await intervals(engine, samples)) as [[Interval], [Interval]];
    expect(asked[0]!.samples).toEqual([
      { kind: "share", rows: 1, count: 2, paired: false, power: false }, { kind: "amount", rows: 1, count: 1, paired: true, power: true },
    ]);
    expect(numbersOf[0]).toEqual([0.9, 1, 9, 2]);
    expect([share.high, share.clear, apart.mean, apart.clear, apart.seen]).toEqual([1, true, 7, false, 0.3]);
    expect(packed([]).payload.byteLength).toBe(0);
  });
  it("writes an interval that is cut off by its ends", () => {
    expect(written(found({}), percent)).toBe("100 % ± 50 %");
    expect(written(found({ mean: 0.00283, low: 0, high: 0.00807 }), percent)).toBe("0.283 % (0 % to 0.807 %)");
    expect(written(found({ mean: 18.8e6, low: 18.8e6, high: 18.8e6 }), (v) => show(v, "b/s"))).toBe("18.8 Mb/s");
    expect(written(found({ mean: NaN, low: NaN, high: NaN }), percent)).toBe("–");
    expect(around(found({ low: NaN, high: NaN }), percent)).toBe("");
  });
  it("lets an index begin where that of the run with most flows does", () => {
    // tcp-background draws how many transfers there are: of 1900 and 3000 the index may be 1/3000.
    expect(within([{ kind: "index", flows: 1900 }, { kind: "index", flows: 3000 }])).toEqual({ kind: "index", flows: 3000 });
    expect(within([{ kind: "share" }, { kind: "share" }])).toEqual({ kind: "share" });
    expect(within([])).toEqual({ kind: "number" });
  });
  it("warns of repetitions that are alike", () => {
    const same = found({ low: 1, high: 1, least: 1, most: 1, spread: 0, clear: false });
    expect(warning([same, same], 5)).toContain("all alike: nothing in them is random");
    expect(warning([same, found({ spread: 0.0005 })], 5)).toContain("nearly alike");
    expect(warning([same, found({ spread: 0.0005 })], 0)).toBe("");
    expect(warning([same, found({})], 5)).toBe("");
    expect(warning([found({ n: 1 })], 5)).toBe("");
  });
  it("says what so many repetitions can see", () => {
    const rate = (v: number) => show(v, "b/s");
    expect(power(10, 2e6, 100e6, "goodput", { kind: "amount" }, rate)).toMatch(/^10 repetitions can see a difference of 2 % in goodput: 80 % of such comparisons/);
    expect(power(3, 2e8, 100e6, "goodput", { kind: "amount" }, rate)).toMatch(/^3 repetitions can see a difference of 200 Mb\/s in/);
    expect([power(3, 0, 1, "x", { kind: "amount" }, rate), power(3, NaN, 1, "x", { kind: "amount" }, rate), power(2, 1.4, 0.5, "x", { kind: "share" }, rate)]).toEqual(["", "", ""]);
  });
  it("knows what each number of a summary can be", () => {
    const figures = numbers({ flows: 2, goodput_bps: 1e7, jain: 0.9, drops: 3, bottleneck: { utilisation: 1, loss_rate: 0.01, queue_mean_bytes: 5 } });
    expect(figures.map((f) => [f.name, f.of])).toEqual([
      ["goodput", { kind: "amount" }], ["utilisation", { kind: "share" }], ["mean queue", { kind: "amount" }], ["loss", { kind: "share" }],
      ["Jain's index", { kind: "index", flows: 2 }], ["drops", { kind: "amount" }],
    ]);
    expect(figures[3]!.apart(0.021)).toBe("2.1 percentage points");
  });
  it("puts lines on one grid", () => {
    const line = { t: Float64Array.of(0, 10, 30, 100), y: Float64Array.of(1, 3, 5, 9) };
    expect([...onGrid(line, 0, 100, 5)]).toEqual([2, 5, 5, 5, 9]);
    expect([...onGrid({ t: Float64Array.of(50), y: Float64Array.of(4) }, 0, 100, 2)]).toEqual([NaN, 4]);
  });
  it("makes a band of one run a line", () => {
    expect(bySpan([Float64Array.of(1, 2), Float64Array.of(3, 4)]).map((row) => [...row])).toEqual([[1, 3], [2, 4]]);
    const one = bandOf([found({ n: 1, low: NaN, high: NaN })]);
    expect([[...one.low], [...one.high]]).toEqual([[1], [1]]);
  });
});
