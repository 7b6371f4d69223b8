/** Shows changes before they are made, asks, and makes them. */
import { FlipstreamError } from '../../schemas/errors.ts';
import type { Context } from '../command.ts';
import { counted } from '../counted.ts';
import { confirm } from './ask.ts';
import type { Plan } from './plan.ts';
import { dropReceipt, writeReceipt, writeSettings } from './settings-file.ts';
import { unifiedDiff } from './text-diff.ts';

export interface Agreement {
  yes: boolean;
  /** Show every line of the change. */
  diff: boolean;
}

/** Lines of one file's change that are shown unless all are asked for. */
const SHOWN = 24;

/** Shows the changes and asks; without a terminal, --yes is needed. */
export async function agreed(
  { out, io }: Context,
  asked: Agreement,
  plans: readonly Plan[],
): Promise<boolean> {
  const changed = plans.filter(differs);
  if (changed.length === 0) return true;
  for (const plan of changed) out.note(shown(plan, asked.diff));
  if (asked.yes) return true;
  const files = changed.map(({ file }) => file).join(', ');
  if (out.json || io.stdin.isTTY !== true)
    throw new FlipstreamError('not_confirmed', 'usage', `${files} was not changed: run it again with --yes.`);
  if (await confirm(io, `Write this to ${files}?`)) return true;
  out.note('Nothing was changed.');
  return false;
}

export const differs = (plan: Plan): boolean => plan.after !== plan.before;

/** Keys of one handler, which look like events in the file. */
const INSIDE = new Set(['args', 'hooks', 'allowedEnvVars']);

/** The lines that change, without the token in them; what repeats for every event is not shown to its end. */
function shown({ before, after, file }: Plan, all: boolean): string {
  const diff = unifiedDiff(before, after, file).replaceAll(/(Bearer )[\w-]+/g, '$1…');
  const lines = diff.trimEnd().split('\n');
  if (all || lines.length <= SHOWN) return diff;
  const left = lines.slice(SHOWN);
  const events = left
    .flatMap((line) => /^[+-]\s*"(\w+)": \[/.exec(line)?.[1] ?? [])
    .filter((name) => !INSIDE.has(name));
  const same = events.length === 0 ? '' : `, the same for ${events.join(', ')}`;
  return `${lines.slice(0, SHOWN).join('\n')}\n… ${counted(left.length, 'more line')}${same}. --diff shows them all.\n`;
}

/** @throws FlipstreamError `settings_changed` (usage) */
export function apply({ config }: Context, plan: Plan): void {
  if (differs(plan)) writeSettings(plan.file, plan.before, plan.after, plan.executable);
  if (plan.receipt) writeReceipt(config.home, plan.receipt);
  else dropReceipt(config.home, plan.file);
}
