/** Appendix B, "Environment": the same for every run. */
export const FIXED_ENVIRONMENT: Readonly<Record<string, string>> = {
  TZ: 'UTC',
  LC_ALL: 'C.UTF-8',
  PYTHONHASHSEED: '0',
  /** 2020-01-01T00:00:00Z; what reproducible builds take for the time. */
  SOURCE_DATE_EPOCH: '1577836800',
};
