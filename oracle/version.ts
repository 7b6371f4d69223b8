/** Signed into every verdict as `oracle_version`; part of the cache key through the runner's version. */
export const ORACLE_VERSION = '0.1.0';
