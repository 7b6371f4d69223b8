/**
 * flipstream's plugin for OpenCode: gives the hook what OpenCode's own hooks and bus tell, in order, and waits for it
 * where OpenCode waits for a plugin. Written by `flipstream init opencode`; `--undo` takes it out.
 */
import { spawn } from 'node:child_process';

// The command of the hook; init puts it here.
const COMMAND = [];

/** Runs the hook with a payload. Never rejects: whatever happens, the agent's session goes on. */
function hook(payload) {
  return new Promise((resolve) => {
    let said = '';
    const [program, ...args] = COMMAND;
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    child.on('error', () => resolve(''));
    child.stdin.on('error', () => {});
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    child.on('close', () => resolve(said));
    child.stdin.end(JSON.stringify(payload));
  });
}

/** What the hook says when the agent is not to stop, or null. */
function reasonIn(said) {
  try {
    const answer = JSON.parse(said);
    return answer.decision === 'block' ? answer.reason : null;
  } catch {
    return null;
  }
}

const texts = (parts) =>
  parts
    .filter((part) => part.type === 'text' && !part.synthetic)
    .map((part) => part.text)
    .join('\n');

/** Of this process, whatever number of times OpenCode loads us: by id, what is known of a session. */
const sessions = new Map();
let queue = Promise.resolve();

function session(id) {
  if (!sessions.has(id)) sessions.set(id, { parent: null, begun: false, calls: new Map(), told: new Set() });
  return sessions.get(id);
}

export const Flipstream = async ({ client, directory }) => {
  /** Tells the hook, after all that was told before. */
  function tell(event, id, fields = {}) {
    const { parent, agent, model, version } = session(id);
    const payload = {
      opencode_event: event,
      ...(version ? { opencode_version: version } : {}),
      session_id: parent ?? id,
      ...(parent ? { agent_id: id, agent } : {}),
      cwd: directory,
      ...(model ? { model } : {}),
      ...fields,
    };
    const told = queue.then(() => hook(payload));
    queue = told.then(() => {});
    return told;
  }

  /** A session that this process has not seen begin goes on from an earlier one. */
  async function begin(id) {
    const known = session(id);
    if (known.begun) return;
    known.begun = true;
    if (known.parent) await tell('subagent.start', id, { title: known.title });
    else await tell('session.start', id, { source: known.fresh ? 'startup' : 'resume' });
  }

  /**
   * The agent has stopped, which OpenCode lets nobody refuse: while the hook holds it, it gets the reason as its next
   * prompt. A process that ends with its session (`opencode run`) waits for that in `dispose`.
   */
  async function stopped(id) {
    for (;;) {
      const reason = reasonIn(await tell('session.idle', id));
      if (reason === null) return;
      const parts = [{ type: 'text', text: reason }];
      const { data } = await client.session.prompt({ path: { id }, body: { parts } });
      if (!data || data.info.error) return;
    }
  }

  function idle(id) {
    const known = session(id);
    if (!known.begun || known.stopping) return undefined;
    if (known.parent) return tell('subagent.stop', id, { status: 'idle' });
    if (known.failed) {
      known.failed = false;
      return tell('session.aborted', id);
    }
    known.stopping = stopped(id)
      .catch(() => {})
      .finally(() => {
        known.stopping = null;
      });
    return known.stopping;
  }

  const on = {
    'session.created': ({ info }) => {
      const known = session(info.id);
      known.fresh = true;
      known.version = info.version;
      known.parent = info.parentID ? (session(info.parentID).parent ?? info.parentID) : null;
      known.title = info.title;
    },
    'session.idle': ({ sessionID }) => idle(sessionID),
    'session.error': ({ sessionID, error }) => {
      if (!sessionID) return undefined;
      session(sessionID).failed = true;
      return tell('session.error', sessionID, { name: error?.name, message: error?.data?.message });
    },
    'session.compacted': ({ sessionID }) => tell('session.compacted', sessionID),
    'permission.asked': ({ sessionID, permission, patterns }) =>
      tell('permission.asked', sessionID, { permission, patterns }),
    'message.updated': ({ info }) => {
      if (info.role !== 'assistant' || !info.time?.completed) return undefined;
      const { told } = session(info.sessionID);
      if (told.has(info.id)) return undefined;
      told.add(info.id);
      const { id: message_id, tokens, cost, finish } = info;
      return tell('message.completed', info.sessionID, { message_id, tokens, cost, finish });
    },
    // a call that throws has no tool.execute.after
    'message.part.updated': ({ part }) => {
      if (part.type !== 'tool' || part.state.status !== 'error') return undefined;
      if (!session(part.sessionID).calls.delete(part.callID)) return undefined;
      const { error, input, time } = part.state;
      const duration_ms = time?.end - time?.start;
      const fields = { call_id: part.callID, tool: part.tool, args: input, error, duration_ms };
      return tell('tool.error', part.sessionID, fields);
    },
  };

  return {
    event: async ({ event }) => {
      await on[event.type]?.(event.properties);
    },
    'chat.message': async ({ sessionID, agent }, { message, parts }) => {
      const known = session(sessionID);
      known.agent = agent;
      known.failed = false;
      if (message.model) known.model = `${message.model.providerID}/${message.model.modelID}`;
      await begin(sessionID);
      await tell('chat.message', sessionID, { message_id: message.id, text: texts(parts) });
    },
    'experimental.text.complete': async ({ sessionID, messageID, partID }, { text }) => {
      await tell('text.complete', sessionID, { message_id: messageID, part_id: partID, text });
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      session(sessionID).calls.set(callID, Date.now());
      await tell('tool.execute.before', sessionID, { call_id: callID, tool, args });
    },
    // of an MCP server's tool OpenCode gives what the server has answered: its content
    'tool.execute.after': async ({ tool, sessionID, callID, args }, { title, output, metadata, content }) => {
      const { calls } = session(sessionID);
      const since = calls.get(callID);
      calls.delete(callID);
      const duration_ms = since === undefined ? undefined : Date.now() - since;
      const call = { call_id: callID, tool, args, duration_ms };
      const result = { title, output, metadata, content };
      await tell('tool.execute.after', sessionID, { ...call, ...result });
    },
    dispose: async () => {
      const held = [...sessions.values()].flatMap(({ stopping }) => stopping ?? []);
      await Promise.all(held);
      for (const [id, known] of sessions) {
        if (!known.begun || known.parent) continue;
        known.begun = false;
        known.fresh = false;
        await tell('session.end', id, { reason: 'dispose' });
      }
      await queue;
    },
  };
};
