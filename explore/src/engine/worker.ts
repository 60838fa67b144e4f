// The engine in its worker. Bytes of a request go in, frames of replies come out; elephan.wasm is the same Rust as the native engine.

type Exports = {
  memory: WebAssembly.Memory;
  elephan_alloc(bytes: number): number;
  elephan_free(at: number, bytes: number): void;
  elephan_answer(head: number, headBytes: number, payload: number, payloadBytes: number): void;
};

let exports: Exports;

const imports = {
  env: {
    elephan_reply(at: number, bytes: number): number {
      const frame = exports.memory.buffer.slice(at, at + bytes);
      self.postMessage(frame, { transfer: [frame] });
      return 1;
    },
    elephan_now(): number {
      return performance.now() / 1000;
    },
  },
};

const ready = WebAssembly.instantiateStreaming(fetch(new URL("./wasm/elephan.wasm", location.href)), imports).then(
  (made) => {
    exports = made.instance.exports as unknown as Exports;
  },
  (error: unknown) => {
    self.postMessage(`The engine of this page could not be loaded (${String(error)}).`);
    throw error;
  },
);

function put(bytes: Uint8Array): number {
  const at = exports.elephan_alloc(bytes.length);
  new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
  return at;
}

self.onmessage = async (event: MessageEvent<{ head: string; payload: ArrayBuffer | null }>) => {
  await ready;
  const head = new TextEncoder().encode(event.data.head);
  const payload = new Uint8Array(event.data.payload ?? new ArrayBuffer(0));
  const [a, b] = [put(head), put(payload)];
  exports.elephan_answer(a, head.length, b, payload.length);
  exports.elephan_free(a, head.length);
  exports.elephan_free(b, payload.length);
};
