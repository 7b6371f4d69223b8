import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const RULES = join(ROOT, '.dependency-cruiser.cjs');
const DEPCRUISE = join(ROOT, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');

let dir: string | undefined;
afterEach(() => dir && rmSync(dir, { recursive: true, force: true }));

/** Runs the check over a small tree whose files import what `imports` says. @returns names of the broken rules */
function broken(imports: Record<string, string>): { status: number | null; rules: string[] } {
  dir = mkdtempSync(join(tmpdir(), 'flipstream-arrows-'));
  cpSync(RULES, join(dir, '.dependency-cruiser.cjs'));
  writeFileSync(
    join(dir, 'tsconfig.json'),
    '{"compilerOptions":{"module":"nodenext","allowImportingTsExtensions":true,"noEmit":true}}',
  );
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  for (const folder of [
    'schemas',
    'log',
    'producers',
    'streams',
    'consumers',
    'oracle',
    'warehouse',
    'jobs',
    'cli',
  ]) {
    mkdirSync(join(dir, folder));
    writeFileSync(join(dir, folder, 'one.ts'), 'export const one = 1;\n');
  }
  for (const [file, target] of Object.entries(imports))
    writeFileSync(join(dir, file), `import { one } from '${target}';\nexport const two = one;\n`);
  const { status, stdout } = spawnSync(
    process.execPath,
    [DEPCRUISE, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', '.'],
    { cwd: dir, encoding: 'utf8' },
  );
  const found: { summary: { violations: { rule: { name: string } }[] } } = JSON.parse(stdout);
  return { status, rules: found.summary.violations.map((violation) => violation.rule.name) };
}

test('the arrows of the design pass', () => {
  expect(
    broken({
      'cli/two.ts': '../oracle/one.ts',
      'jobs/two.ts': '../warehouse/one.ts',
      'streams/two.ts': '../schemas/one.ts',
    }).rules,
  ).toEqual([]);
});

test('an arrow turned round is found, and fails the check', () => {
  const { status, rules } = broken({
    'schemas/two.ts': '../log/one.ts',
    'streams/two.ts': '../log/one.ts',
    'warehouse/two.ts': '../consumers/one.ts',
    'oracle/two.ts': '../producers/one.ts',
    'log/two.ts': '../cli/one.ts',
  });
  expect(rules.sort()).toEqual([
    'arrows-of-log',
    'arrows-of-oracle',
    'arrows-of-schemas',
    'arrows-of-streams',
    'arrows-of-warehouse',
  ]);
  expect(
    spawnSync(process.execPath, [DEPCRUISE, '--config', '.dependency-cruiser.cjs', '.'], { cwd: dir }).status,
  ).not.toBe(0);
  expect(status).not.toBeNull();
});
