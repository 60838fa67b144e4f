import { expect, it } from "vitest";
import { crc32, lookOf } from "../src/model/colors";

it("chooses the colour of an unknown name as the report does", () => {
  // The check value of CRC-32, as its catalogue has it.
  expect(crc32("123456789")).toBe(0xcbf43926);
  expect(lookOf("my_own")[1].length).toBeGreaterThan(0);
});
it("gives ports colours of their own", () => {
  expect(lookOf("port 0")[0]).not.toBe(lookOf("port 1")[0]);
});
it("gives the second traffic with a congestion control the next stroke, in its colour", () => {
  const [first, second] = [lookOf("cubic"), lookOf("cubic~1")];
  expect(second[0]).toBe(first[0]);
  expect(first[1]).toEqual([]);
  expect(second[1].length).toBeGreaterThan(0);
  expect(lookOf("cubic~4")).toEqual(first);
});
