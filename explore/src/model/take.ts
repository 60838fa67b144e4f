// What a person takes away: files of a panel, the scenario, the commands that make the same run.
import type { Line } from "./picture";

/** Offers a file to the person. */
export function download(name: string, content: string | Blob, type: string): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Returns the lines as CSV, one sample a row: name, column, time in ns, value, unit. */
export function csv(lines: Line[]): string {
  const rows = ["name,table,column,how,time_ns,value,unit"];
  for (const line of lines) {
    const head = [line.name, line.ask.table, line.ask.column ?? "", line.ask.how].map(quoted).join(",");
    for (let i = 0; i < line.t.length; i++) rows.push(`${head},${line.t[i]},${line.y[i]},${line.unit}`);
  }
  return rows.join("\n") + "\n";
}

/** Returns a Python program that runs the scenario. */
export function python(text: string): string {
  const quote = text.includes("'''") ? JSON.stringify(text) : `r'''\n${text}'''`;
  return `import elephan as el\n\nSCENARIO = ${quote}\n\nrun = el.run(SCENARIO)\nprint(run)\nrun.report()\n`;
}

/** Returns a notebook with that program. */
export function notebook(text: string): string {
  const cell = (source: string) => ({ cell_type: "code", execution_count: null, id: "run", metadata: {}, outputs: [], source });
  const metadata = { kernelspec: { display_name: "Python 3", language: "python", name: "python3" } };
  const source = python(text).replace("print(run)\nrun.report()\n", "run");
  return JSON.stringify({ cells: [cell(source)], metadata, nbformat: 4, nbformat_minor: 5 }, null, 1);
}

/** Returns a word that a POSIX shell reads as it stands. */
export function shell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** Returns the command that runs the scenario of the library with these keys changed, or of a file. */
export function command(name: string, changes: Record<string, string>): string {
  const set = Object.entries(changes).map(([key, value]) => `-s ${shell(`${key}=${value}`)}`);
  return ["elephan run", shell(name), ...set].join(" ");
}
