/** How a registration of our own hook is told from those of others. */
export interface OurHook {
  /** Absolute path of the installed hook. */
  hook: string;
  /** Where the HTTP transport listens; null without one. */
  url: string | null;
}

/** Where harnesses post events to over the HTTP transport. */
export const hookUrl = (port: number) => `http://127.0.0.1:${port}/hook`;

/** `hookUrl` of whatever port, and the header in which `init` gives its token (32 bytes, base64url). */
const HOOK_URL = /^http:\/\/127\.0\.0\.1:\d{1,5}\/hook$/;
const TOKEN = /^Bearer [\w-]{43}$/;

/**
 * Where a handler posts to that has the form of ours over HTTP, which no hook of another program has by chance.
 * @returns null for any other
 */
export function urlLikeOurs(handler: unknown): string | null {
  if (handler === null || typeof handler !== 'object') return null;
  if (!('url' in handler) || typeof handler.url !== 'string' || !HOOK_URL.test(handler.url)) return null;
  const headers = 'headers' in handler ? handler.headers : null;
  if (headers === null || typeof headers !== 'object' || !('Authorization' in headers)) return null;
  const { Authorization: token } = headers;
  return typeof token === 'string' && TOKEN.test(token) ? handler.url : null;
}

/** Whether a handler found in settings is one of ours, of whatever release: it runs our hook, or posts to our port. */
export function isOurs(handler: unknown, { hook, url }: OurHook): boolean {
  if (handler === null || typeof handler !== 'object') return false;
  const args = 'args' in handler && Array.isArray(handler.args) ? handler.args : [];
  if (args.includes(hook)) return true;
  const lines = ['command', 'bash'].map((name) => Object.entries(handler).find(([key]) => key === name)?.[1]);
  if (lines.some((line) => typeof line === 'string' && line.includes(hook))) return true;
  return url !== null && 'url' in handler && handler.url === url;
}
