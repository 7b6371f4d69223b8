import { atif } from './atif.ts';
import { claudeCode } from './claude-code.ts';
import type { Importer } from './importer.ts';
import { miniSweAgent } from './mini-swe-agent.ts';
import type { Peek } from './peek.ts';
import { sweAgent } from './swe-agent.ts';
import { sweSmith } from './swe-smith.ts';

/** Every format that can be imported; of several that would take a file the first does. */
export const IMPORTERS: readonly Importer[] = [atif, claudeCode, miniSweAgent, sweAgent, sweSmith];

export function recognise(look: Peek): Importer | null {
  return IMPORTERS.find((importer) => importer.recognises(look)) ?? null;
}
