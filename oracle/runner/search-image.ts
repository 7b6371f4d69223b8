import Docker from 'dockerode';
import { FlipstreamError } from '../../schemas/errors.ts';
import { LABEL, OWNER_LABEL, openBox } from './box.ts';
import { DOCKER_SOCKET } from './container.ts';
import { ROOT } from './layout.ts';
import { ownerId } from './owner.ts';
import { tarOf } from './tar.ts';

export interface Found {
  path: string;
  /** How many lines of the file hold one of those looked for. */
  lines: number;
}

const TIMEOUT_MS = 600_000;

/**
 * Looks for lines of text in every file of an image, as a fix that is to be kept from graded code could lie there: an
 * installed release, a cache. Packed archives are not looked into.
 * @throws FlipstreamError `image_unusable` when the image has not what it takes, or what the client throws.
 */
export async function searchImage(
  image: string,
  lines: readonly string[],
  { socketPath = DOCKER_SOCKET, oracleHost = 'search' }: { socketPath?: string; oracleHost?: string } = {},
): Promise<Found[]> {
  const wanted = lines.filter((line) => line.trim() !== '');
  if (wanted.length === 0) return [];
  const box = await openBox(new Docker({ socketPath }), {
    image,
    labels: { [LABEL]: oracleHost, [OWNER_LABEL]: ownerId() },
    limits: { memory_mb: 512, cpus: 2, pids: 64 },
    runtime: null,
    lifetimeS: TIMEOUT_MS / 1000,
    volumes: [],
  });
  try {
    const script =
      'cd /work && tar -xof - && find / -xdev -type f -exec grep -cHF -f /work/lines {} + 2>/dev/null | grep -v ":0$"; true';
    const end = await box.exec({
      argv: ['/bin/sh', '-c', script],
      user: `${ROOT}:${ROOT}`,
      cwd: '/',
      env: { LC_ALL: 'C' },
      input: tarOf([{ path: 'lines', content: Buffer.from(`${wanted.join('\n')}\n`) }]),
      timeoutMs: TIMEOUT_MS,
      outputMax: 64 * 2 ** 20,
    });
    if (end.exit !== 0)
      throw new FlipstreamError(
        'image_unusable',
        'retryable',
        `${image} could not be searched: ${end.lost ?? end.refused ?? (end.stderr.trim() || `ended with ${end.exit}`)}`,
      );
    return end.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const at = line.lastIndexOf(':');
        return { path: line.slice(0, at), lines: Number(line.slice(at + 1)) };
      });
  } finally {
    await box.close();
  }
}
