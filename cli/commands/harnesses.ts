import { CAPABILITIES, HARNESS_CAPABILITIES } from '../../schemas/harness-capabilities.ts';
import { addCommand, type Cli, handle, NoFlags } from '../command.ts';
import { cellTable } from '../table.ts';

const SIGN = { yes: 'yes', partly: 'partly', no: '-' } as const;

/** `flipstream harnesses`: what each harness tells, as in docs/reference/harnesses.md. */
export function addHarnesses(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'harnesses',
    'what each harness tells us, and what none can be asked for',
  );
  handle(cli, command, NoFlags, async ({ out }) => {
    out.result(HARNESS_CAPABILITIES, () =>
      [
        cellTable(
          ['', ...HARNESS_CAPABILITIES.map(({ harness }) => harness)],
          [
            ['tested', ...HARNESS_CAPABILITIES.map(({ tested }) => tested ?? 'by its docs')],
            ...CAPABILITIES.map((name) => [
              name.replaceAll('_', ' '),
              ...HARNESS_CAPABILITIES.map(({ gives }) => SIGN[gives[name]]),
            ]),
          ],
        ),
        ...HARNESS_CAPABILITIES.flatMap(({ harness, notes }) =>
          Object.entries(notes).map(([name, note]) => `${harness}, ${name.replaceAll('_', ' ')}: ${note}.`),
        ),
      ].join('\n'),
    );
  });
}
