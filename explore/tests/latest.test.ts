import { expect, test } from "vitest";
import { Latest } from "../src/model/latest.svelte";

/** Answers that are given by hand. */
function byHand() {
  const asked: { of: string; give: (found: number) => void; fail: (why: Error) => void }[] = [];
  const latest = new Latest((of: string) => new Promise<number>((give, fail) => asked.push({ of, give, fail })));
  return { asked, latest };
}
const rest = () => new Promise((resolve) => setTimeout(resolve));

test("one question at a time, and then the newest", async () => {
  const { asked, latest } = byHand();
  for (const of of ["a", "b", "c"]) latest.ask(of);
  expect([asked.map((one) => one.of), latest.busy, latest.now]).toEqual([["a"], true, null]);
  asked[0]!.give(1);
  await rest();
  expect([latest.now, latest.busy, asked.map((one) => one.of)]).toEqual([{ of: "a", found: 1 }, true, ["a", "c"]]);
  asked[1]!.give(3);
  await rest();
  expect([latest.now, latest.busy]).toEqual([{ of: "c", found: 3 }, false]);
});

test("an error is told until the next question, and the answer before stays", async () => {
  const { asked, latest } = byHand();
  latest.ask("a");
  asked[0]!.give(1);
  await rest();
  latest.ask("b");
  asked[1]!.fail(new Error("no"));
  await rest();
  expect([latest.now, latest.problem, latest.busy]).toEqual([{ of: "a", found: 1 }, "no", false]);
  latest.ask("c");
  expect([latest.problem, latest.busy]).toEqual([null, true]);
});
