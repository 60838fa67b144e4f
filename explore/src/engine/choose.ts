import type { Engine } from "./engine";
import { Native } from "./native";
import { Wasm } from "./wasm";

const meta = (name: string): string => {
  const content = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
  return /^%[A-Z]+%$/.test(content) ? "" : content;
};

/** Returns the engine of this page: the server that wrote its token into the page, else WebAssembly. */
export function choose(): Engine {
  const token = meta("elephan-token");
  if (!token || new URLSearchParams(location.search).has("wasm")) return new Wasm();
  const address = new URL("engine", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.hash = address.search = "";
  return new Native(address.href, token);
}

/** Returns what the command line asked the page to open, or null. */
export function asked(): { kind: string; text?: string; path?: string; name?: string } | null {
  const content = meta("elephan-open");
  return content ? JSON.parse(content) : null;
}
