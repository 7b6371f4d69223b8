/**
 * A model server that says what a script says, in the shape of the Messages API's event stream, so that the
 * real harness binary runs without an account. Only the model's words are scripted.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { z } from 'zod';
import { listen } from './listen.ts';

export type Block =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> };

const Content = z.union([
  z.string(),
  z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
]);
const ModelRequest = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: Content })),
});
export type ModelRequest = z.infer<typeof ModelRequest>;

export interface ScriptedModel {
  url: string;
  /** Every request of an agent loop, in order of arrival: what the harness really sent. */
  requests: ModelRequest[];
  close(): Promise<void>;
}

/**
 * @param reply what the model says next, given the conversation so far. Called only for requests that offer
 * tools; whatever else a harness asks (titles, quota) is answered with one word.
 */
export async function startScriptedModel(
  reply: (request: ModelRequest) => Block[] | Promise<Block[]>,
): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    if (request.method !== 'POST' || !request.url?.startsWith('/v1/messages')) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    if (request.url.includes('count_tokens')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":10}');
      return;
    }
    const parsed = ModelRequest.parse(JSON.parse(body));
    const agentLoop = (parsed.tools?.length ?? 0) > 0;
    if (agentLoop) requests.push(parsed);
    const blocks = agentLoop ? await reply(parsed) : [{ type: 'text' as const, text: 'ok' }];
    if (parsed.stream) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of eventsOf(parsed.model, blocks)) {
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      }
      response.end();
    } else {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(messageOf(parsed.model, blocks)));
    }
  });
  return { ...(await listen(server)), requests };
}

/** How many times the model has spoken in this conversation: the index of the script's next step. */
export function step(request: ModelRequest): number {
  return request.messages.filter((message) => message.role === 'assistant').length;
}

/** All text of a message, tool results included. */
export function textOf(content: z.infer<typeof Content>): string {
  return typeof content === 'string' ? content : content.map((block) => block.text ?? '').join('');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

const USAGE = {
  input_tokens: 10,
  output_tokens: 10,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};
let messages = 0;

function messageOf(model: string, content: Block[]) {
  const stop = content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn';
  return {
    id: `msg_${++messages}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: stop,
    stop_sequence: null,
    usage: USAGE,
  };
}

function eventsOf(model: string, blocks: Block[]) {
  const message = messageOf(model, blocks);
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...blocks.flatMap((block, index) => [
      {
        type: 'content_block_start',
        index,
        content_block: block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} },
      },
      ...(block.type === 'text'
        ? pieces(block.text).map((text) => ({
            type: 'content_block_delta',
            index,
            delta: { type: 'text_delta', text },
          }))
        : [
            {
              type: 'content_block_delta',
              index,
              delta: { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
            },
          ]),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: message.stop_reason, stop_sequence: null },
      usage: { output_tokens: 10 },
    },
    { type: 'message_stop' },
  ];
}

/** Text arrives in pieces of a few words, as from a real model. */
function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,16}/gu) ?? [''];
}
