import { CAPABILITIES, HARNESS_CAPABILITIES } from '../schemas/harness-capabilities.ts';

const INTRO = `# What each harness tells

<!-- Written by \`npm run generate\` from schemas/harness-capabilities.ts. Do not edit. -->

\`flipstream harnesses\` prints this table, and the view \`harness_capabilities\` holds it: a null where the harness tells
nothing is not a thing that did not happen. It is about hooks: what an imported session tells, its file decides, and the
view says null of it. A number under "tested" is the release that our tests run and that payloads were recorded from
(\`producers/adapters/recorded\`); "by its docs" means that the adapter was made to the harness's documentation or source,
with payloads written after it (\`producers/adapters/documented\`), and was not run against it.
How to connect each: [Other harnesses](../guides/harnesses.md).
`;

/** docs/reference/harnesses.md. */
export function harnessPage(): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const plain = (name: string) => name.replaceAll('_', ' ');
  const notes = HARNESS_CAPABILITIES.flatMap(({ title, notes }) =>
    Object.entries(notes).map(([name, note]) => row([title, plain(name), note])),
  );
  return [
    INTRO,
    row(['', ...HARNESS_CAPABILITIES.map(({ title }) => title)]),
    row(['---', ...HARNESS_CAPABILITIES.map(() => '---')]),
    row(['tested', ...HARNESS_CAPABILITIES.map(({ tested }) => tested ?? 'by its docs')]),
    ...CAPABILITIES.map((name) =>
      row([
        plain(name),
        ...HARNESS_CAPABILITIES.map(({ gives }) => (gives[name] === 'no' ? '–' : gives[name])),
      ]),
    ),
    '',
    '| harness | of what | but |',
    '| --- | --- | --- |',
    ...notes,
    '',
  ].join('\n');
}
