// The engine in its worker. Bytes of a request go in, frames of replies come out; elephan.wasm is the same Rust as the native engine.

type Exports = {
  memory: WebAssembly.Memory;
  elephan_alloc(bytes: number): number;
  elephan_free(place: number, bytes: number): void;
  elephan_answer(request: number, requestBytes: number, payload: number, payloadBytes: number): void;
};

let exports: Exports;
let panic = "";

const bytes = (place: number, count: number) => new Uint8Array(exports.memory.buffer, place, count);
const env = {
  elephan_now: () => performance.now() / 1000,
  elephan_reply(place: number, count: number): number {
    const frame = bytes(place, count).slice().buffer;
    self.postMessage(frame, { transfer: [frame] });
    return 1;
  },
  elephan_panic(place: number, count: number): void {
    panic = new TextDecoder().decode(bytes(place, count).slice());
  },
};

function put(data: Uint8Array): number {
  const place = exports.elephan_alloc(data.length);
  if (place === 0) throw new Error("not enough memory in this page");
  bytes(place, data.length).set(data);
  return place;
}

function answer(request: string, given: ArrayBuffer | null): void {
  const head = new TextEncoder().encode(request);
  const payload = new Uint8Array(given ?? new ArrayBuffer(0));
  try {
    const [a, b] = [put(head), put(payload)];
    exports.elephan_answer(a, head.length, b, payload.length);
    exports.elephan_free(a, head.length);
    exports.elephan_free(b, payload.length);
  } catch (error) {
    self.postMessage({ broken: panic ? `internal error, please report it with the scenario: ${panic}` : String((error as Error).message) });
  }
}

// First the compiled engine comes, then requests; those that come before it is ready wait.
let ready: Promise<void>;
self.onmessage = async ({ data }: MessageEvent<{ module: WebAssembly.Module } | { head: string; payload: ArrayBuffer | null }>) => {
  if ("module" in data) {
    ready = WebAssembly.instantiate(data.module, { env }).then((made) => {
      exports = made.exports as unknown as Exports;
    });
    return;
  }
  await ready;
  answer(data.head, data.payload);
};
