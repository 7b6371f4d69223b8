import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder whose own package.json pins the real harness binaries. */
export const HARNESS_FOLDER = fileURLToPath(new URL('../harness/', import.meta.url));

/** A real harness that tests/real/prepare.ts installs, or undefined where it could not. */
export function harnessBinary(
  name: 'claude' | 'codex' | 'opencode' | 'gemini' | 'copilot',
): string | undefined {
  const binary = fileURLToPath(new URL(`../harness/node_modules/.bin/${name}`, import.meta.url));
  return existsSync(binary) ? binary : undefined;
}

export function claudeBinary(): string | undefined {
  return harnessBinary('claude');
}
