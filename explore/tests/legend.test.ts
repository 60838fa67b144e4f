import { describe, expect, it } from "vitest";
import { scaled } from "../src/draw/plot";
import { legend, valueOf } from "../src/model/legend";
import type { Flow } from "../src/model/panels";
import type { Line } from "../src/model/picture";

const line = (name: string, group: string, y: number[], more: Partial<Line> = {}): Line => ({
  panel: "goodput", role: "main", name, group, paint: "cubic", ask: { table: "flow_samples", how: "rate" },
  t: Float64Array.from(y.keys()), y: Float64Array.from(y), unit: "b/s", thinned: false, ...more,
});
const flow = (traffic: string, source = "a"): Flow => ({ traffic, source }) as Flow;
const many = (count: number, group: string, y = [1e6, 3e6]) => Array.from({ length: count }, (_, i) => line(`${group}[${i}]`, group, y));

describe("a legend", () => {
  it("names few lines one by one, with thresholds", () => {
    const own = [line("reno", "reno", [1]), line("reno", "reno", [1], { role: "second" }), line("drops", "reno", [1], { role: "marks" })];
    expect(legend(own, [flow("reno")]).map((e) => [e.name, e.stroke])).toEqual([["reno", "solid"], ["reno threshold", "dotted"]]);
  });
  it("says how many single lines are drawn, and of how many flows", () => {
    const flows = Array.from({ length: 12 }, () => flow("answer"));
    expect(legend(many(12, "answer"), flows)[0]!.name).toBe("answer: 12 flows, one line each");
    expect(legend(many(8, "answer"), flows)[0]!.name).toBe("answer: 8 of 12 flows, one line each");
    expect(legend(many(12, "answer"), flows, "band")[0]!.name).toBe("answer: 12 flows, one band each");
    expect(legend([...many(8, "answer"), line("alone", "probe", [1])], flows).map((e) => e.name)).toEqual(["answer: 8 of 12 flows, one line each", "alone"]);
  });
  it("counts no line that has no value, and claims no colour for lines of several", () => {
    const own = many(9, "answer").map((l, i) => ({ ...l, paint: `series ${i}`, ...(i < 2 ? { y: Float64Array.of(NaN) } : {}) }));
    const [entry] = legend(own, Array.from({ length: 9 }, () => flow("", "answer")));
    expect([entry!.name, entry!.color]).toEqual(["answer: 7 of 9 flows, one line each", null]);
  });
  it("says what a value at the cursor is", () => {
    const [entry] = legend(many(10, "answer"), []);
    expect(valueOf(entry!, 1, "b/s", true)).toBe("sum 30 Mb/s");
    expect(valueOf(entry!, 1, "b/s", false)).toBe("mean 3 Mb/s");
    expect(valueOf(entry!, 1e12, "b/s", true)).toBe("–"); // long after the last sample
    expect(valueOf(legend([line("x", "x", [5e6])], [])[0]!, 0, "b/s", true)).toBe("5 Mb/s");
  });
});

describe("a legend of many flows", () => {
  it("names the congestion control that they have, and sums no more than it says", () => {
    const flows = Array.from({ length: 12 }, () => ({ traffic: "reno", entry: "cubic", source: "a" }) as Flow);
    const [entry] = legend([...many(8, "cubic"), line("all flows", "all flows", [9], { role: "total" })], flows);
    expect(entry!.name).toBe("cubic: 8 of 12 flows, one line each");
    expect(valueOf(entry!, 1, "b/s", true)).toBe("sum of these 8 24 Mb/s");
  });
});

describe("the scale of a panel", () => {
  const axis = (top: number) => ({ top, bottom: 0 });
  it("is that of the run that is drawn, unless the other was kept to compare with", () => {
    expect(scaled(axis(100), axis(2000), false)).toEqual(axis(100));
    expect(scaled(axis(100), axis(250), false)).toEqual(axis(250));
    expect(scaled(axis(100), axis(50), false)).toEqual(axis(100));
    expect(scaled(axis(100), axis(2000), true)).toEqual(axis(2000));
  });
});
