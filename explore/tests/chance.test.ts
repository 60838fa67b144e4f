import { describe, expect, it } from "vitest";
import { band, interval, onGrid, t975 } from "../src/model/chance";

describe("chance", () => {
  // Quantiles of Student's t, from the tables of any textbook.
  it.each([
    [1, 12.7062], [2, 4.3027], [5, 2.5706], [6, 2.4469], [9, 2.2622], [19, 2.093], [29, 2.0452], [120, 1.9799],
  ])("knows t of %i degrees of freedom", (df, t) => expect(t975(df)).toBeCloseTo(t, 3));

  it("gives the interval of a mean", () => {
    // Mean 3, standard deviation sqrt(2.5), t(4) = 2.77645: half = 2.77645 * 1.5811 / sqrt(5).
    const found = interval([1, 2, 3, 4, 5, NaN]);
    expect(found.n).toBe(5);
    expect(found.mean).toBe(3);
    expect(found.half).toBeCloseTo(1.9632, 4);
    expect([found.low, found.high]).toEqual([1, 5]);
  });
  it("puts lines on one grid", () => {
    const line = { t: Float64Array.of(0, 10, 30, 100), y: Float64Array.of(1, 3, 5, 9) };
    expect([...onGrid(line, 0, 100, 5)]).toEqual([2, 5, 5, 5, 9]);
    expect([...onGrid({ t: Float64Array.of(50), y: Float64Array.of(4) }, 0, 100, 2)]).toEqual([NaN, 4]);
  });
  it("makes a band of one run a line", () => {
    const one = band([Float64Array.of(1, 2)], 2);
    expect([...one.low]).toEqual([...one.high]);
  });
});
