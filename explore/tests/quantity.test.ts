import { describe, expect, it } from "vitest";
import { parse, round_steps, show, write } from "../src/model/quantity";

describe("quantities", () => {
  it("reads what the scenario language writes", () => {
    expect(parse("20 Mbps")).toEqual({ value: 20e6, kind: "rate", unit: "Mbps" });
    expect(parse("1.5 GB/s")?.value).toBe(12e9);
    expect(parse("24 ms")?.value).toBeCloseTo(0.024, 12);
    expect(parse("64 KiB")?.value).toBe(65536);
    expect(parse("0.5 bdp")).toEqual({ value: 0.5, kind: "bdp", unit: "bdp" });
    expect(parse("50 %")?.value).toBe(0.5);
    expect(parse("none")).toBeNull();
    expect(parse("3 q")).toBeNull();
  });
  it("shows three digits and the unit that fits", () => {
    expect(show(18826548, "b/s")).toBe("18.8 Mb/s");
    expect(show(999.96e3, "B")).toBe("1 MB");
    expect(show(51911421, "ns")).toBe("51.9 ms");
    expect(show(0.001817, "%")).toBe("0.182 %");
    expect(show(NaN, "B")).toBe("–");
  });
  it("writes in the family of units that it was given in", () => {
    expect(write(12.3e6, parse("20 Mbps")!)).toBe("12.3 Mb/s");
    expect(write(65536, parse("1 MiB")!)).toBe("64 KiB");
    expect(write(0.00025, parse("1 ms")!)).toBe("250 us");
    expect(write(0.16, parse("1 bdp")!)).toBe("0.16 bdp");
  });
  it("has what it writes for a reading of its own", () => {
    for (const text of ["12.3 Mb/s", "64 KiB", "250 us", "0.16 bdp", "33 p", "1.46 kB", "3120 KiB", "700 B"]) {
      const quantity = parse(text)!;
      expect(parse(write(quantity.value, quantity))?.value).toBeCloseTo(quantity.value, 9);
    }
  });
  it("writes whole bytes, which the language wants", () => {
    for (const value of [1500.4, 3_198_156, 65_536, 3.2e7, 700.2, 123_456.7])
      for (const unit of ["KiB", "MiB", "kB"]) {
        const written = write(value, { value, kind: "size", unit });
        const bytes = parse(written)!.value;
        expect(Math.abs(bytes - Math.round(bytes))).toBeLessThan(1e-6);
        expect(bytes / value).toBeCloseTo(1, 1);
      }
    expect(write(3_198_156, parse("64 KiB")!)).toBe("3120 KiB");
  });
  it("finds round steps", () => {
    expect(round_steps(0, 10, 5)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(round_steps(3, 3, 5)).toEqual([3]);
  });
});
