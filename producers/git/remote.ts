import { sha256 } from '../../schemas/hash.ts';
import type { RepositoryConfig } from './scratch.ts';

/**
 * Appendix A's `remote_url_hash`: SHA-256 of the URL of `origin`, else of the first remote by name. User name
 * and password are taken out first: the hash then is the same for everyone, and no token can be guessed from it.
 */
export function remoteUrlHash(config: RepositoryConfig): string | null {
  const remotes = [...config]
    .flatMap(([key, url]) => {
      const name = /^remote\.(.+)\.url$/s.exec(key)?.[1];
      return name === undefined ? [] : [{ name, url }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const chosen = remotes.find(({ name }) => name === 'origin') ?? remotes[0];
  return chosen ? sha256(withoutCredentials(chosen.url)) : null;
}

/** `https://user:token@host/x` → `https://host/x`; scp-like addresses keep their user, which is the server's. */
export function withoutCredentials(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1');
}
