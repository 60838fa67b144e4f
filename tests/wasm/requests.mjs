// Answers requests by the engine in WebAssembly: node requests.mjs ENGINE.wasm < requests.json, a list of {method, params, payload?}
// whose `payload` is base64. Prints a JSON line for each: the heads of its frames, its body in base64 with `bodies`, and its seconds.

import { readFileSync } from "node:fs";
import { instantiate, unframe } from "../../crates/web/engine.mjs";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const bodies = process.argv.includes("bodies");
let engine = await instantiate(module);
let id = 0;
for (const { method, params, payload } of JSON.parse(readFileSync(0, "utf8"))) {
  const begin = performance.now();
  const pieces = [];
  let last = null;
  id += 1;
  try {
    engine.answer({ id, method, params }, payload ? Buffer.from(payload, "base64") : null, (frame) => {
      const { head, body } = unframe(frame);
      if (head.kind === "piece") pieces.push(head);
      else last = { head, body: bodies ? Buffer.from(body).toString("base64") : undefined };
    });
  } catch (error) {
    last = { head: { id, kind: "trap", message: error.message } };
    engine = await instantiate(module);
  }
  const seconds = (performance.now() - begin) / 1000;
  console.log(JSON.stringify({ ...last, pieces: pieces.length, seconds, memory: engine.memoryBytes() }));
}
