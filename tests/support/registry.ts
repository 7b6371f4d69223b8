/** The registry of tests: the one that FLIPSTREAM_TEST_REGISTRY names, else our double. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { startRegistryDouble } from './registry-double.ts';
import { type Answers, type RegistryServer, serveRegistry } from './registry-server.ts';

/** Empty, whichever it is. What a test leaves in a real one goes when it is closed. */
export async function startRegistry(): Promise<RegistryServer> {
  const url = process.env.FLIPSTREAM_TEST_REGISTRY;
  if (!url) return startRegistryDouble();
  const { answers, clear } = apart(url.replace(/\/+$/, ''));
  const server = await serveRegistry(answers, clear);
  await server.ask('GET /subjects');
  return server;
}

const Subjects = z.array(z.string());
const JSON_TYPE = { 'content-type': 'application/vnd.schemaregistry.v1+json' };

/** The registry at `url` as one that has only the subjects made through it: tests run side by side, and others use it too. */
function apart(url: string): { answers: Answers; clear(): Promise<void> } {
  const prefix = `flipstream-test-${randomUUID()}-`;
  const made = new Set<string>();

  const answers: Answers = async (request, given) => {
    const [method = '', path = ''] = request.split(' ');
    const [, named, subject] = /^(.*\/(?:subjects|config)\/)([^/]+)/.exec(path) ?? [];
    if (subject && (method === 'POST' || method === 'PUT')) made.add(subject);
    const there = named ? named + prefix + path.slice(named.length) : path;
    const response = await fetch(url + there, {
      method,
      headers: JSON_TYPE,
      ...(given ? { body: given } : {}),
    });
    const body = await response.text();
    return { status: response.status, body: request === 'GET /subjects' ? own(body) : body };
  };

  function own(body: string): string {
    const all = Subjects.parse(JSON.parse(body));
    return JSON.stringify(
      all.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length)),
    );
  }

  async function clear(): Promise<void> {
    for (const subject of made)
      for (const what of [`subjects/${subject}`, `subjects/${subject}?permanent=true`, `config/${subject}`])
        await answers(`DELETE /${what}`, '');
  }

  return { answers, clear };
}
