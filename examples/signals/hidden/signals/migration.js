// Up and down again leaves nothing behind.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const db = new DatabaseSync(':memory:');
const schema = () => db.prepare('select sql from sqlite_master order by name').all();
const files = readdirSync('migrations').sort();
function run(names) {
  for (const name of names) db.exec(readFileSync(`migrations/${name}`, 'utf8'));
}
const before = schema();
run(files.filter((name) => name.endsWith('.up.sql')));
run(files.filter((name) => name.endsWith('.down.sql')).reverse());
assert.deepEqual(schema(), before);
