import { sha256 } from '../../schemas/hash.ts';
import type { Content } from '../draft.ts';
import { cutText } from './cut.ts';
import { idOf } from './proto.ts';
import { keyOf, type OpenMessage, type Part, type Told } from './session-state.ts';
import { absorb, emit, isKnown, ownerOf, type Work } from './work.ts';

function messageIdOf(work: Work, agentId: string | null, id: string, phase: 'whole' | 'partial'): string {
  return idOf(ownerOf(work, agentId), 'message', { own_id: id, phase });
}

export interface Piece {
  id: string;
  index: number;
  final: boolean;
}

/** A piece of an assistant message: whatever their order, all of them together are one message. */
export function onPiece(work: Work, agentId: string | null, piece: Piece, part: Part): void {
  if (isKnown(work, messageIdOf(work, agentId, piece.id, 'whole'))) return;
  const key = keyOf(agentId, piece.id);
  const before = work.messages.get(key);
  const message: OpenMessage = {
    id: piece.id,
    agent_id: agentId,
    turn: before?.turn ?? work.core.turn,
    pieces: { [piece.index]: part, ...before?.pieces },
    final: piece.final ? piece.index : (before?.final ?? null),
  };
  work.messages.set(key, message);
  if (message.final === null) return;
  for (let index = 0; index <= message.final; index++) if (!message.pieces[index]) return;
  tellMessage(work, message, 'whole', joined(work, message));
}

/** What the harness says was an agent's last message of the turn: an event only if no piece told it. */
export function onLastMessage(work: Work, agentId: string | null, eventId: string, part: Part): void {
  const text = part.content.text;
  if (isKnown(work, eventId)) return;
  const agent = agentId ?? '';
  const told = text && toldOf(work, text);
  const before = work.core.by_pieces[agent];
  if (!text || !told || text.bytes === 0 || (before && same(before, told))) {
    absorb(work, eventId);
    return;
  }
  const open = [...work.messages.values()].filter(
    (message) => message.agent_id === agentId && message.turn === work.core.turn,
  );
  const begun = open.findLast((message) => beginsWith(text, message));
  if (begun) {
    // the rest of its pieces is lost or late; the whole is known now
    tellMessage(work, begun, 'whole', text);
    absorb(work, eventId);
    return;
  }
  const fields = { ...part.fields, role: 'assistant' };
  emit(work, { event_id: eventId, type: 'message', agent_id: agentId, part, fields, content: { text } });
  work.core.by_end = { ...work.core.by_end, [agent]: told };
}

/** Tells what there is of messages whose pieces can be waited for no longer. */
export function releaseMessages(work: Work, agentId: string | null | undefined): void {
  for (const message of [...work.messages.values()]) {
    if (agentId !== undefined && message.agent_id !== agentId) continue;
    tellMessage(work, message, 'partial', joined(work, message));
  }
}

function tellMessage(work: Work, message: OpenMessage, phase: 'whole' | 'partial', text: Content): void {
  work.messages.delete(keyOf(message.agent_id, message.id));
  const event_id = messageIdOf(work, message.agent_id, message.id, phase);
  const parts = ordered(message);
  const latest = parts.reduce((a, b) => (b.ts > a.ts ? b : a));
  const agent = message.agent_id ?? '';
  const told = { ...toldOf(work, text), turn: message.turn };
  if (isKnown(work, messageIdOf(work, message.agent_id, message.id, 'whole'))) return;
  const { [agent]: byEnd, ...others } = work.core.by_end;
  if (byEnd && same(byEnd, told)) {
    work.core.by_end = others;
    absorb(work, event_id);
    return;
  }
  const fields = { ...parts[0]?.fields, role: 'assistant', message_id: message.id };
  const content = { text };
  emit(work, { event_id, type: 'message', agent_id: message.agent_id, part: latest, fields, content });
  work.core.by_pieces = { ...work.core.by_pieces, [agent]: told };
}

function ordered(message: OpenMessage): Part[] {
  const indexes = Object.keys(message.pieces).map(Number);
  return indexes.sort((a, b) => a - b).flatMap((index) => message.pieces[index] ?? []);
}

/**
 * The pieces as one text. It is redacted again: a key that begins in one piece and ends in another is whole only
 * here. Its hash is that of the unredacted whole, so there is none when anything was redacted or cut.
 */
function joined(work: Work, message: OpenMessage): Content {
  const texts = ordered(message).flatMap((part) => part.content.text ?? []);
  const plain = texts.map((text) => text.text).join('');
  const again = work.context.redact(plain);
  const { text, cut: tooLong } = cutText(again.text, work.context.limit);
  const hits = texts.reduce((sum, one) => sum + one.hits, 0) + again.hits;
  const bytes = texts.reduce((sum, one) => sum + one.bytes, 0);
  const cut = tooLong || texts.some((one) => one.cut);
  const whole = hits === 0 && !texts.some((one) => one.cut);
  return { text, bytes, cut, hits, ...(whole ? { hash: work.context.keyedHash(plain) } : {}) };
}

function toldOf(work: Work, { text, bytes, hits, cut }: Content): Told {
  return { turn: work.core.turn, text: sha256(text.trim()), bytes, exact: hits === 0 && !cut };
}

/** Redaction of pieces and of the whole may differ, and then only their raw length tells that they are one. */
function same(a: Told, b: Told): boolean {
  if (a.turn !== b.turn) return false;
  return a.text === b.text || (a.bytes === b.bytes && !(a.exact && b.exact));
}

/** Whether the pieces that came are found, in order, in a whole text. */
function beginsWith(whole: Content, message: OpenMessage): boolean {
  let from = 0;
  for (const { content } of ordered(message)) {
    const text = content.text?.text ?? '';
    const at = whole.text.indexOf(text, from);
    if (at === -1) return false;
    from = at + text.length;
  }
  return from > 0;
}
