import { resolve } from 'node:path';
import { z } from 'zod';
import { addCommand, type Cli, handle } from '../command.ts';
import { counted } from '../counted.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { readKeyRing } from '../key-ring.ts';
import { withProgress } from '../progress.ts';
import { inSteps } from '../steps.ts';
import { readBundle } from '../verify/bundle.ts';
import { checking } from '../verify/check.ts';
import type { Report, State } from '../verify/report.ts';

const Flags = z.looseObject({ keyRing: z.string().optional() });

const EXIT_OF: Record<State, ExitCode> = {
  intact: EXIT.ok,
  redacted: EXIT.ok,
  withheld: EXIT.ok,
  unattested: EXIT.partial,
  altered: EXIT.failed,
};

/** `flipstream verify <bundle>`: needs the bundle and nothing of ours that runs. */
export function addVerify(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'verify <bundle>',
    'check a bundle of session export: intact, redacted later, withheld, altered or unattested',
  ).option('--key-ring <file>', 'trust these public keys instead of those in the bundle');
  handle(cli, command, Flags, async ({ out, config, io }, flags, [path = '']) => {
    const given = flags.keyRing ? readKeyRing(resolve(config.cwd, flags.keyRing)) : null;
    const report = await withProgress(io.stderr, 'Checking', (progress) =>
      inSteps(checking(readBundle(resolve(config.cwd, path)), given), progress),
    );
    out.result(report, () => describe(report));
    return EXIT_OF[report.state];
  });
}

const MEANING: Record<State, string> = {
  intact: 'intact: every attested event is as captured',
  redacted: 'redacted later: some content was replaced after capture, and each replacement is recorded',
  withheld: 'withheld: some content is not in the bundle; its headers are, and hold',
  unattested: 'unattested: consistent in itself, but no accepted verdict covers it',
  altered: 'ALTERED: something was changed, removed, added or moved',
};

function describe(report: Report): string {
  const lines = [`session ${report.session_id ?? '?'}: ${MEANING[report.state]}`];
  for (const range of report.ranges) {
    const seqs = range.from === range.to ? `${range.from}` : `${range.from} to ${range.to}`;
    lines.push(`  chain ${range.chain_id}, seq ${seqs}: ${range.state}`);
  }
  for (const verdict of report.verdicts) {
    const reach = verdict.attests_to === null ? '' : `, attests up to seq ${verdict.attests_to}`;
    const accepted = verdict.accepted ? '' : ', NOT accepted';
    lines.push(
      `  verdict ${verdict.verdict_id}: ${verdict.mode} ${verdict.verdict} for ${verdict.task_id} (${verdict.runner}, ${verdict.placement}, evidence ${verdict.evidence})${reach}${accepted}`,
    );
  }
  for (const problem of report.problems) lines.push(`  ${problem.where}: ${problem.message}`);
  lines.push(
    `${counted(report.events, 'event')}, ${report.unattested} after the last attested one. Outcome: ${report.outcome ?? 'none'}; flip: ${report.flip ? 'yes' : 'no'}${report.marks.length > 0 ? `; marks: ${report.marks.join(', ')}` : ''}.`,
  );
  lines.push(
    report.key_ring.source === 'given'
      ? `Keys: the given key ring ${report.key_ring.sha256}.`
      : `Keys: the bundle's own, ${report.key_ring.sha256}; compare it with what the oracle's operator publishes, or give --key-ring.`,
  );
  return lines.join('\n');
}
