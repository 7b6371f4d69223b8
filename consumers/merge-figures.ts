/** The live numbers of several parts as one answer. */

/** Name and description of the figure that says that a part answers. */
export const UP = ['up', '1 while this part answers'] as const;

/**
 * Prometheus wants the lines of a figure together, below one description of it.
 * @param texts by part, in Prometheus' text format; null: it gave none
 */
export function mergeFigures(texts: Readonly<Record<string, string | null>>): string {
  const figures = new Map<string, string[]>();
  for (const [part, text] of Object.entries(texts)) {
    for (const figure of (text ?? notUp(part)).split(/^(?=# HELP )/m)) {
      const [help = '', type = '', ...lines] = figure.trim().split('\n');
      const about = `${help}\n${type}`;
      figures.set(about, [...(figures.get(about) ?? []), ...lines]);
    }
  }
  return [...figures].map(([about, lines]) => `${[about, ...lines].join('\n')}\n`).join('\n');
}

/** What a part that does not answer would say. */
function notUp(part: string): string {
  const [name, help] = UP;
  return `# HELP flipstream_${name} ${help}\n# TYPE flipstream_${name} gauge\nflipstream_${name}{part="${part}"} 0\n`;
}
