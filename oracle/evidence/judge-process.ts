/** What reports are read in: a process that can be ended when it hangs. Started by judge-apart.ts only. */
import { type Evidence, judgeRun, judgeUnread } from './judge.ts';

// They go to the whole group or unit. The service ends this one itself, when it needs it no more.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
process.on('message', (evidence: Evidence) => {
  try {
    process.send?.({ judged: judgeRun(evidence) });
  } catch {
    // What cannot be judged, or whose judgement cannot be sent, is the report's fault: were this process to end of it,
    // it would count as the machine's.
    process.send?.({ judged: judgeUnread(evidence) });
  }
});
process.send?.({ ready: true });
