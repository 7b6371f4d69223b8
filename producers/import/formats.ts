import { atif } from './atif.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { gemini, geminiLines } from './gemini.ts';
import type { Importer } from './importer.ts';
import { miniSweAgent } from './mini-swe-agent.ts';
import { openaiChat } from './openai-chat.ts';
import { opencode } from './opencode.ts';
import { openhands } from './openhands.ts';
import { openhandsSdk } from './openhands-sdk.ts';
import type { Peek } from './peek.ts';
import { shepherdJson, shepherdLines, shepherdTrace } from './shepherd.ts';
import { shepherdManifest } from './shepherd-manifest.ts';
import { sweAgent } from './swe-agent.ts';
import { sweSmith } from './swe-smith.ts';

/** Every format that can be imported; of several that would take a file the first does. */
const IMPORTERS: readonly Importer[] = [
  ...[
    atif,
    shepherdManifest,
    shepherdTrace,
    shepherdJson,
    shepherdLines,
    codex,
    claudeCode,
    geminiLines,
    gemini,
    opencode,
  ],
  ...[openhands, openhandsSdk, miniSweAgent, openaiChat, sweAgent, sweSmith],
];

export function recognise(look: Peek): Importer | null {
  return IMPORTERS.find((importer) => importer.recognises(look)) ?? null;
}
