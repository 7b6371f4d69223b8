/**
 * Imports a path into a log that keeps nothing, and prints what it read and how its memory went, as JSON:
 * `node --max-old-space-size=… tests/support/import-process.ts <home> <path>`.
 */

import { layout } from '../../producers/home.ts';
import { importPaths } from '../../producers/import/import.ts';

const [, , home = '', path = ''] = process.argv;
const resident: number[] = [];
const timer = setInterval(() => resident.push(process.memoryUsage.rss()), 250);
let published = 0;
const report = await importPaths({
  paths: [path],
  home: layout(home),
  log: {
    publish: async (records) => {
      published += records.length;
    },
  },
  clock: Date.now,
  limit: 1024 * 1024,
  warn: () => {},
});
clearInterval(timer);
console.log(JSON.stringify({ published, resident, report }));
