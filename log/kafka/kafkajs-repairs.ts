/** kafkajs, mended where it is: each was found in 2.2.4, which is pinned for that reason (docs/decisions/0012). */
import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * kafkajs looks at every connection's queue each millisecond for ever (with a timeout of minus a few decades), also
 * when nothing waits in it: an idle process with some dozens of connections is never idle.
 */
const schedule = RequestQueue.prototype.scheduleCheckPendingRequests;
RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
  if (this.pending.length > 0) schedule.call(this);
};

/** Of an answer, before it: how long it is. */
const LENGTH_BYTES = 4;

/**
 * A connection that ends in the middle of an answer keeps that half, and reads the first answers of its next life as
 * the rest of it: from then on nothing that comes from this broker is understood. And requests that come together while
 * there is no connection each open one, all but one of which end it again when they end.
 */
const connect = Connection.prototype.connect;
const opening = new WeakMap<Connection, Promise<boolean>>();
Connection.prototype.connect = function (this: Connection): Promise<boolean> {
  const underWay = opening.get(this);
  if (underWay) return underWay;
  if (this.isConnected()) return Promise.resolve(true);
  // Of the last one nothing may come any more.
  this.socket?.destroy();
  this.chunks = [];
  this.bytesBuffered = 0;
  this.bytesNeeded = LENGTH_BYTES;
  const opened = connect.call(this).finally(() => opening.delete(this));
  opening.set(this, opened);
  return opened;
};
