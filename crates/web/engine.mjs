// The engine in WebAssembly as an object: `answer` passes a request in and gives each frame to `reply`.
// A trap or a panic is one Error; the instance is of no use after it, and whoever has it takes another one.

/** Compiles and instantiates the engine; `module` is a WebAssembly.Module or its bytes. */
export async function instantiate(module, now = () => performance.now() / 1000) {
  let reply = () => true;
  let told = "";
  let exports;
  const bytes = (place, count) => new Uint8Array(exports.memory.buffer, place, count);
  const env = {
    elephan_now: now,
    elephan_reply: (place, count) => (reply(bytes(place, count).slice().buffer) === false ? 0 : 1),
    elephan_panic: (place, count) => {
      told = new TextDecoder().decode(bytes(place, count).slice());
    },
  };
  const made = await WebAssembly.instantiate(module, { env });
  exports = (made.instance ?? made).exports;

  /** Copies bytes into the memory of the engine. */
  const put = (data) => {
    const place = exports.elephan_alloc(data.length);
    if (place === 0) throw new Error("not enough memory in the page");
    bytes(place, data.length).set(data);
    return place;
  };

  return {
    memoryBytes: () => exports.memory.buffer.byteLength,
    /** Answers a request `{id, method, params}`; `take(frame)` is called for each frame and may return false to stop. */
    answer(request, payload, take) {
      const text = new TextEncoder().encode(JSON.stringify(request));
      const extra = payload ? new Uint8Array(payload) : new Uint8Array(0);
      reply = take;
      told = "";
      try {
        const [head, body] = [put(text), put(extra)];
        exports.elephan_answer(head, text.length, body, extra.length);
        exports.elephan_free(head, text.length);
        exports.elephan_free(body, extra.length);
      } catch (error) {
        throw new Error(told ? `internal error, please report it with the scenario: ${told}` : String(error.message ?? error));
      }
    },
  };
}

/** Head and body of a frame. */
export function unframe(frame) {
  const length = new DataView(frame).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, length)));
  return { head, body: frame.slice(4 + length) };
}
