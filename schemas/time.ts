/** Time comes from a clock that is passed in, so that tests need none of the real one. */
export type Clock = () => number;

const DAY_MS = 86_400_000;

/**
 * ISO 8601 UTC with milliseconds, 24 characters, as every `ts` is stored. @param ms from 1970 to the year 9999
 *
 * Reckoned here, because a `Date` that is turned into text first loads the time zones: 3 ms, in the hook paid
 * at every tool call.
 */
export function isoTime(ms: number): string {
  const whole = Math.floor(ms);
  const days = Math.floor(whole / DAY_MS);
  const inDay = whole - days * DAY_MS;
  const { year, month, day } = civil(days);
  const hours = Math.floor(inDay / 3_600_000);
  const minutes = Math.floor(inDay / 60_000) % 60;
  const seconds = Math.floor(inDay / 1000) % 60;
  const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  return `${date}T${pad(hours, 2)}:${pad(minutes, 2)}:${pad(seconds, 2)}.${pad(inDay % 1000, 3)}Z`;
}

/** The Gregorian date of a day since 1970-01-01, in years that begin in March, so that the leap day comes last. */
function civil(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  };
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
