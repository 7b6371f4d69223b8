/** How a registration of our own hook is told from those of others. */
export interface OurHook {
  /** Absolute path of the installed hook. */
  hook: string;
  /** Where the HTTP transport listens; null without one. */
  url: string | null;
}

/** Where harnesses post events to over the HTTP transport. */
export const hookUrl = (port: number) => `http://127.0.0.1:${port}/hook`;

/** Whether a handler found in settings is one of ours, of whatever release: it runs our hook, or posts to our port. */
export function isOurs(handler: unknown, { hook, url }: OurHook): boolean {
  if (handler === null || typeof handler !== 'object') return false;
  const args = 'args' in handler && Array.isArray(handler.args) ? handler.args : [];
  if (args.includes(hook)) return true;
  const lines = ['command', 'bash'].map((name) => Object.entries(handler).find(([key]) => key === name)?.[1]);
  if (lines.some((line) => typeof line === 'string' && line.includes(hook))) return true;
  return url !== null && 'url' in handler && handler.url === url;
}
