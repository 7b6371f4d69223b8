/**
 * A model server in the forms that harnesses other than Claude Code speak: OpenAI's Responses API (Codex), chat
 * completions (OpenCode) and Gemini's API. Only the model's words are scripted; what the harness sends is kept.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { z } from 'zod';
import { listen } from './listen.ts';

/** One answer of the model: words, and at most one command for the harness's shell tool. */
export interface Turn {
  text: string;
  command?: string;
}

/** The harness's shell tool, as it offered it, and how a command is given to it. */
export interface ShellTool {
  name: string;
  input: (command: string) => Record<string, unknown>;
}

export interface ScriptedApi {
  url: string;
  /** Bodies of the agent loop's requests, as they came. */
  requests: string[];
  close(): Promise<void>;
}

const Body = z.looseObject({ stream: z.boolean().optional(), tools: z.array(z.unknown()).optional() });
type Sse = readonly { event?: string; data: unknown }[];

/** What each API's stream looks like for one turn. */
const APIS: readonly { path: RegExp; stream: (turn: Turn, shell: ShellTool, n: number) => Sse }[] = [
  { path: /\/responses$/, stream: responses },
  { path: /\/chat\/completions$/, stream: completions },
  { path: /:(?:streamG|g)enerateContent/, stream: gemini },
];

/** Serves a script: the answer to the n-th request that offers tools is its n-th turn; anything else gets one word. */
export async function startScriptedApi(script: readonly Turn[], shell: ShellTool): Promise<ScriptedApi> {
  const requests: string[] = [];
  let answered = 0;
  const server = createServer(async (request, response) => {
    const body = await read(request);
    const path = new URL(request.url ?? '/', 'http://model').pathname;
    const api = APIS.find((each) => each.path.test(path));
    if (request.method !== 'POST' || !api) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const offersTools = (Body.parse(JSON.parse(body)).tools?.length ?? 0) > 0;
    if (offersTools) requests.push(body);
    const turn = offersTools
      ? (script[requests.length - 1] ?? { text: 'The script is over.' })
      : { text: 'ok' };
    answered += 1;
    const events = api.stream(turn, shell, answered);
    if (path.endsWith(':generateContent')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(events[0]?.data));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const { event, data } of events)
      response.write(
        `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
      );
    response.end();
  });
  return { ...(await listen(server)), requests };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8') || '{}';
}

function responses({ text, command }: Turn, shell: ShellTool, n: number): Sse {
  const id = `resp_${n}`;
  const items: object[] = [
    { type: 'message', role: 'assistant', id: `msg_${n}`, content: [{ type: 'output_text', text }] },
  ];
  if (command !== undefined)
    items.push({
      ...{ type: 'function_call', id: `fc_${n}`, call_id: `call_${n}`, name: shell.name },
      arguments: JSON.stringify(shell.input(command)),
    });
  const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
  const all = [
    { type: 'response.created', response: { id } },
    ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    {
      type: 'response.completed',
      response: {
        id,
        usage: {
          ...usage,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 0 },
        },
      },
    },
  ];
  return all.map((data) => ({ event: data.type, data }));
}

function completions({ text, command }: Turn, shell: ShellTool, n: number): Sse {
  const chunk = (delta: object, finish_reason: string | null = null, usage?: object) => ({
    data: {
      ...{ id: `chatcmpl-${n}`, object: 'chat.completion.chunk', created: 0, model: 'scripted' },
      choices: [{ index: 0, delta, finish_reason }],
      ...(usage ? { usage } : {}),
    },
  });
  const call = command !== undefined && {
    ...{ index: 0, id: `call_${n}`, type: 'function' },
    function: { name: shell.name, arguments: JSON.stringify(shell.input(command)) },
  };
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(text.match(/[\s\S]{1,16}/gu) ?? []).map((content) => chunk({ content })),
    ...(call ? [chunk({ tool_calls: [call] })] : []),
    chunk({}, call ? 'tool_calls' : 'stop', usage),
    { data: '[DONE]' },
  ];
}

function gemini({ text, command }: Turn, shell: ShellTool): Sse {
  const call =
    command === undefined ? [] : [{ functionCall: { name: shell.name, args: shell.input(command) } }];
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 };
  return [
    {
      data: {
        candidates: [
          { index: 0, content: { role: 'model', parts: [{ text }, ...call] }, finishReason: 'STOP' },
        ],
        usageMetadata,
      },
    },
  ];
}
