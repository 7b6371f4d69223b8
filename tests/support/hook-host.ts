/** What stands around real hooks in a test: an oracle that counts, and a harness that runs their commands. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';
import { ANSWER_BYTES } from '../../schemas/grade.ts';
import { listen } from './listen.ts';

/** Answers each grade with the next word, and keeps what it was asked. */
export async function standInOracle(answers: string[]): Promise<{ asked: string[]; url: string }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      if (request.url !== '/v1/grade') return void response.writeHead(404).end();
      asked.push(body);
      response
        .writeHead(200, { 'content-length': ANSWER_BYTES })
        .end((answers.shift() ?? 'ERROR').padEnd(16));
    });
  });
  const { url, close } = await listen(server);
  onTestFinished(close);
  return { asked, url };
}

/** What a hook prints, run as its harness runs it. */
export function ran(
  command: readonly string[],
  payload: object,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(said) : reject(new Error(`exit ${code}`))));
    child.stdin.end(JSON.stringify(payload));
  });
}
