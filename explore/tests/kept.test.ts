import { describe, expect, it } from "vitest";
import { axesOf, cells, heldTo, series, type Parameter, type Variant } from "../src/model/kept";
import { shares } from "../src/model/heat";

const parameter = (name: string, values: string[], numeric: boolean): Parameter => ({ name, title: name, values, numeric, unit: "" });
const variant = (parameters: Record<string, string>, mean: number, numbers: Record<string, number> = {}): Variant => ({
  label: Object.values(parameters).join(), parameters, numbers, mean, low: null, high: null, count: 1, runs: [[1, mean]],
});

describe("axes of a kept experiment", () => {
  it("are numbers across, then names; a matrix where two have the same names", () => {
    const [rate, queue] = [parameter("rate", ["1", "2", "3"], true), parameter("queue", ["fifo", "red"], false)];
    expect(axesOf([queue, rate], 6)).toMatchObject({ across: "rate", down: "queue", each: "", drawing: "lines" });
    const [a, b] = [parameter("a", ["reno", "bbr"], false), parameter("b", ["bbr", "reno"], false)];
    expect(axesOf([a, b], 4)).toMatchObject({ across: "b", down: "a", drawing: "map" });
  });
  it("leave the points of a random design unjoined", () => {
    const [rate, delay] = [parameter("rate", ["1", "2", "3"], true), parameter("delay", ["4", "5", "6"], true)];
    expect(axesOf([rate, delay], 3)).toMatchObject({ across: "rate", down: "" });
    const own = [variant({ rate: "1" }, 5, { rate: 1 }), variant({ rate: "1" }, 7, { rate: 1 })];
    expect(series(own, [rate], "rate", "").map((s) => s.joined)).toEqual([false]);
  });
});

describe("cells", () => {
  const all = [parameter("x", ["1", "2"], true), parameter("y", ["a", "b"], false), parameter("z", ["p", "q"], false)];
  const own = [variant({ x: "1", y: "a", z: "p" }, 10), variant({ x: "1", y: "a", z: "q" }, 20), variant({ x: "2", y: "b", z: "p" }, 5)];
  it("have the mean of the variants that fall together, until the others are held", () => {
    expect(cells(own, all, "x", "y").map((row) => row.map((c) => c.mean))).toEqual([[15, null], [null, 5]]);
    expect(cells(heldTo(own, { z: "q" }), all, "x", "y").map((row) => row.map((c) => c.mean))).toEqual([[20]]);
  });
  it("are coloured from the least to the greatest", () => {
    const cell = (value: number | null) => ({ value, text: "", label: "" });
    expect(shares([[cell(0), cell(null)], [cell(5), cell(10)]])).toEqual([[6, 0], [28, 50]]);
  });
});
