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

async function load(): Promise<void> {
  const answer = await fetch(new URL("./wasm/elephan.wasm", location.href));
  if (!answer.ok) throw new Error("no engine");
  const made = await WebAssembly.instantiateStreaming(answer, { env });
  exports = made.instance.exports as unknown as Exports;
}

const ready = load();
ready.catch(() =>
  self.postMessage({
    lost: "This page found no engine. Open the address that `elephan explore` has printed, with its token; a static site has its engine in wasm/elephan.wasm.",
  }),
);

function put(data: Uint8Array): number {
  const place = exports.elephan_alloc(data.length);
  if (place === 0) throw new Error("not enough memory in this page");
  bytes(place, data.length).set(data);
  return place;
}

self.onmessage = async (event: MessageEvent<{ head: string; payload: ArrayBuffer | null }>) => {
  await ready;
  const head = new TextEncoder().encode(event.data.head);
  const payload = new Uint8Array(event.data.payload ?? new ArrayBuffer(0));
  try {
    const [a, b] = [put(head), put(payload)];
    exports.elephan_answer(a, head.length, b, payload.length);
    exports.elephan_free(a, head.length);
    exports.elephan_free(b, payload.length);
  } catch (error) {
    self.postMessage({ broken: panic ? `internal error, please report it with the scenario: ${panic}` : String((error as Error).message) });
  }
};
