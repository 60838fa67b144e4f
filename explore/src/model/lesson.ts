// Lessons: steps with words, changes of a scenario, and where to look.
import found from "../generated/lessons.json";
import type { Engine } from "../engine/engine";
import type { PanelId } from "./panels";

export const VIEWS = ["Time", "Network", "Chance", "Sweep", "Compare"] as const;
export type View = (typeof VIEWS)[number];
export type Step = {
  words: string;
  /** The scenario of this step, if it is not that of the lesson; and what is changed in it. */
  scenario?: string;
  set?: Record<string, unknown>;
  view?: View;
  panel?: PanelId;
  /** The interval to look at, in seconds. */
  from?: number;
  to?: number;
  code?: string;
};
export type Lesson = { name: string; title: string; about: string; scenario?: string; text?: string; step: Step[] };

export const LESSONS = found as unknown as Lesson[];

/** Returns the text of a step's scenario. */
export async function textOf(engine: Engine, lesson: Lesson, step: Step): Promise<string> {
  const name = step.scenario ?? lesson.scenario;
  let text = lesson.text ?? "";
  if (name) {
    const all = (await engine.request("library")).head.value as { name: string; text: string }[];
    text = all.find((entry) => entry.name === name)!.text;
  }
  for (const [path, value] of Object.entries(step.set ?? {})) text = (await engine.request("edit", { text, path, value, controls: false })).head.text;
  return text;
}

/** Returns words as paragraphs of plain text, code and emphasis, in turns. */
export function paragraphs(words: string): { kind: "text" | "code" | "em"; text: string }[][] {
  return words.trim().split(/\n\n+/).map((paragraph) =>
    paragraph.split(/(`[^`]+`|\*[^*]+\*)/).filter(Boolean).map((part) =>
      part.startsWith("`") ? { kind: "code", text: part.slice(1, -1) } : part.startsWith("*") ? { kind: "em", text: part.slice(1, -1) } : { kind: "text", text: part },
    ),
  );
}
