/** What reports are read in: a process that can be ended when it hangs. Started by judge-apart.ts only. */
import { type Evidence, judgeRun } from './judge.ts';

// They go to the whole group or unit. The service ends this one itself, when it needs it no more.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
process.on('message', (evidence: Evidence) => process.send?.({ judged: judgeRun(evidence) }));
process.send?.({ ready: true });
