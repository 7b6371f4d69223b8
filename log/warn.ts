import pino from 'pino';
import { FlipstreamError, messageOf } from '../schemas/errors.ts';

/** Told of trouble that is being retried; never content. */
export type Warn = (message: string, error: unknown) => void;

/** On stderr, as JSON. Of a foreign error nothing is told: its text may quote content. */
export function stderrWarner(): Warn {
  const logger = pino({ name: 'log' }, pino.destination({ fd: 2, sync: true }));
  return (message, error) => {
    const code = error instanceof FlipstreamError ? error.code : undefined;
    logger.warn({ code, why: code ? messageOf(error) : undefined }, message);
  };
}
