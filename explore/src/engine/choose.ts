import type { Engine, Head } from "./engine";
import { Native } from "./native";
import { Wasm } from "./wasm";

/** What the server says first: what the command line named. */
export type Start = { scenario?: { name: string; text: string }; load?: string; lesson?: string };

const KEPT = "elephan-token";

/** Takes the token out of the address; another tab of this browser finds it where it is kept. Returns it, or null. */
export function keepToken(): string | null {
  const found = /^#token=([\w-]+)$/.exec(location.hash);
  if (!found) return null;
  localStorage.setItem(KEPT, found[1]!);
  history.replaceState(null, "", location.pathname + location.search);
  return found[1]!;
}

/** Returns the engine of this page: the server whose token the address or this browser has, else WebAssembly. */
export async function choose(): Promise<{ engine: Engine; start: Start }> {
  const own = keepToken();
  const key = own ?? localStorage.getItem(KEPT);
  if (key) {
    const address = new URL("engine", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.hash = address.search = "";
    const native = new Native(address.href, key);
    try {
      const hello: Head = await native.hello();
      return { engine: native, start: (hello.start ?? {}) as Start };
    } catch (error) {
      if (own) throw error;
      native.end();
    }
  }
  return { engine: new Wasm(), start: {} };
}
