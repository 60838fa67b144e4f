// The keys of the scenario language, from its JSON Schema, as far as they fit a scenario.
import type { Head } from "../engine/engine";
import { at } from "./controls";

export type Entry = { path: string; text: string; choices: string[]; example: string };
const DEPTH = 5;

function follow(schema: Head, node: Head | undefined): Head {
  let here = node ?? {};
  for (let i = 0; i < 8 && typeof here.$ref === "string"; i++) {
    const { $ref, ...rest } = here;
    const target = ($ref as string).slice(2).split("/").reduce<Head | undefined>((n, key) => n?.[key], schema);
    here = { ...(target ?? {}), ...rest };
  }
  return here;
}

/** Returns the schema of a table whose `kind` is known, else the parts of its variants put together. */
function variant(schema: Head, node: Head, kind: string | undefined): Head[] {
  const options = (node.oneOf ?? node.anyOf) as Head[] | undefined;
  if (!options) return [node];
  const tables = options.map((o) => follow(schema, o)).flatMap((o) => variant(schema, o, kind));
  const own = tables.filter((o) => o.properties?.kind?.const !== undefined && o.properties.kind.const === kind);
  if (own.length) return [{ ...own[0]!, properties: { ...(node.properties ?? {}), ...own[0]!.properties } }];
  return [...(node.properties ? [node] : []), ...tables.filter((o) => o.properties && o.properties.kind?.const === undefined)];
}

function choicesOf(schema: Head, node: Head): string[] {
  if (Array.isArray(node.enum)) return node.enum.map(String);
  if (node.const !== undefined) return [String(node.const)];
  if (node.type === "boolean") return ["true", "false"];
  const options = ((node.oneOf ?? node.anyOf) as Head[] | undefined)?.map((o) => follow(schema, o)) ?? [];
  const names = options.flatMap((o) => (o.properties?.kind?.const ? [String(o.properties.kind.const)] : choicesOf(schema, o)));
  return [...new Set(names)];
}

/** Returns every key that this scenario may have, each with its words. */
export function entries(schema: Head, given: Record<string, string>): Entry[] {
  const out = new Map<string, Entry>();
  const count = (path: string) => {
    const numbers = Object.keys(given).flatMap((k) => (k.startsWith(`${path}[`) ? [Number(/^\[(\d+)\]/.exec(k.slice(path.length))?.[1])] : []));
    return numbers.length ? Math.max(...numbers) + 1 : 0;
  };
  const walk = (node: Head, path: string, depth: number) => {
    if (depth > DEPTH) return;
    for (const table of variant(schema, node, given[path] ?? given[`${path}.kind`])) {
      for (const [key, raw] of Object.entries((table.properties ?? {}) as Record<string, Head>)) {
        const child = follow(schema, raw);
        const here = path ? `${path}.${key}` : key;
        const text = String(raw.description ?? child.description ?? "");
        const items = child.type === "array" && child.items ? follow(schema, child.items as Head) : null;
        if (items?.properties || items?.oneOf) {
          for (let i = 0; i < count(here); i++) walk(items, `${here}[${i}]`, depth + 1);
          continue;
        }
        const choices = choicesOf(schema, child);
        const leaf = child.type !== "object" || choices.length > 0;
        if (leaf && !out.has(here)) out.set(here, { path: here, text, choices, example: String((raw.examples ?? child.examples)?.[0] ?? "") });
        if (child.properties || child.oneOf || child.anyOf) walk(child, here, depth + 1);
        if (child.additionalProperties && typeof child.additionalProperties === "object") {
          const names = new Set(Object.keys(given).flatMap((k) => (k.startsWith(here + ".") ? [k.slice(here.length + 1).split(/[.[]/)[0]!] : [])));
          for (const name of names) walk(follow(schema, child.additionalProperties as Head), `${here}.${name}`, depth + 1);
        }
      }
    }
  };
  walk(schema, "", 0);
  return [...out.values()];
}

/** Returns where the resolved scenario has the value of a key that the text may not have: `tcp.X` stands with each group of hosts. */
export function placeOf(path: string, values: unknown): string {
  if (!path.startsWith("tcp.")) return path;
  const hosts = at(values, "hosts") as Record<string, unknown> | undefined;
  const first = hosts && Object.keys(hosts)[0];
  return first ? `hosts.${first}.${path}` : path;
}
