/** "flip": what SQLite keeps in the header to say whose file it is. */
export const APPLICATION_ID = 0x666c6970;
/** Raised when an older release could not use the file any more. */
export const FORMAT = 1;

/**
 * A row of `block` is a run of records of one partition, packed: one row a record could not be read fast
 * enough. `part` says where a partition ends and what retention has taken. `state` is every `<group>.state`
 * changelog in its compacted form: the latest value by key. `lease.epoch` is the fencing token.
 */
export const TABLES = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE schema (id INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
CREATE TABLE topic (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, uid TEXT NOT NULL);
CREATE TABLE part (
  id INTEGER PRIMARY KEY, topic INTEGER NOT NULL, partition INTEGER NOT NULL,
  next INTEGER NOT NULL DEFAULT 0, earliest INTEGER NOT NULL DEFAULT 0, cleaned INTEGER NOT NULL DEFAULT 0,
  UNIQUE (topic, partition));
CREATE TABLE block (
  id INTEGER PRIMARY KEY AUTOINCREMENT, part INTEGER NOT NULL, base INTEGER NOT NULL, last INTEGER NOT NULL,
  ts INTEGER NOT NULL, records INTEGER NOT NULL, zstd INTEGER NOT NULL, data BLOB NOT NULL);
CREATE UNIQUE INDEX block_place ON block (part, base);
CREATE TABLE grp (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE committed (grp INTEGER, part INTEGER, next INTEGER NOT NULL, PRIMARY KEY (grp, part)) WITHOUT ROWID;
CREATE TABLE member (
  grp INTEGER, id TEXT, place TEXT NOT NULL, pid INTEGER NOT NULL, expires INTEGER NOT NULL,
  beat INTEGER NOT NULL, PRIMARY KEY (grp, id)) WITHOUT ROWID;
CREATE TABLE lease (
  grp INTEGER, partition INTEGER, epoch INTEGER NOT NULL, owner TEXT, PRIMARY KEY (grp, partition)) WITHOUT ROWID;
CREATE TABLE state (
  id INTEGER PRIMARY KEY, grp INTEGER NOT NULL, partition INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL);
CREATE UNIQUE INDEX state_key ON state (grp, partition, key);
CREATE TABLE letter (grp INTEGER, part INTEGER, offset INTEGER, PRIMARY KEY (grp, part, offset)) WITHOUT ROWID;
`;
