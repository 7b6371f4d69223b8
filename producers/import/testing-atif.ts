/** Trajectories of every release of ATIF, with what each release brought. For tests. */

const call = (id: string, more: object = {}) => ({
  ...{
    tool_call_id: id,
    function_name: 'bash',
    arguments: { command: `echo ${id}`, deep: { list: [1, null, 'x'] } },
  },
  ...more,
});

function steps(version: number): object[] {
  const at = (second: number) => `2026-01-02T03:04:0${second}.000Z`;
  return [
    { step_id: 1, timestamp: '2026-01-02T03:04:00.123456+00:00', source: 'system', message: 'Be good.' },
    { step_id: 2, timestamp: at(1), source: 'user', message: 'Fix ünï\ncode — "quoted"' },
    {
      ...{ step_id: 3, timestamp: at(2), source: 'agent', model_name: 'model-1', message: 'Looking.' },
      ...{ reasoning_content: 'hm', tool_calls: [call('a'), call('b')] },
      observation: {
        results: [
          { source_call_id: 'b', content: 'out b' },
          { source_call_id: 'a', content: '' },
        ],
      },
      metrics: { prompt_tokens: 10, completion_tokens: 2, cost_usd: 0.001, logprobs: [-0.5, -1] },
      extra: { note: 'kept' },
    },
    {
      step_id: 4,
      timestamp: at(3),
      source: 'agent',
      message: '',
      tool_calls: [call('c')],
      observation: { results: [{ content: 'nobody called for this' }] },
    },
    ...(version >= 2
      ? [
          {
            step_id: 5,
            timestamp: at(4),
            source: 'system',
            message: 'compacted',
            observation: { results: [{ content: 'x' }] },
          },
        ]
      : []),
    ...(version >= 5 ? [{ step_id: 6, source: 'user', message: 'copied', is_copied_context: true }] : []),
    ...(version >= 6
      ? [
          {
            step_id: 7,
            timestamp: at(5),
            source: 'user',
            message: [
              { type: 'text', text: 'see' },
              { type: 'image', source: { media_type: 'image/png', path: 'a.png' } },
            ],
          },
        ]
      : []),
    ...(version >= 6
      ? [
          {
            ...{
              step_id: 8,
              timestamp: at(6),
              source: 'agent',
              message: 'shot',
              tool_calls: [call('d', { extra: { k: 1 } })],
            },
            observation: { results: [{ source_call_id: 'd', content: [{ type: 'text', text: 'parts' }] }] },
          },
        ]
      : []),
  ];
}

/** By name; every value is a trajectory as its release has it. */
export function trajectories(): Record<string, Record<string, unknown>> {
  const all: Record<string, Record<string, unknown>> = {};
  for (let version = 0; version <= 7; version++) {
    all[`1.${version}`] = {
      schema_version: `ATIF-v1.${version}`,
      session_id: `session-${version}`,
      agent: {
        name: 'Terminus-2',
        version: '2.0.0',
        model_name: 'model-1',
        ...(version >= 5 ? { tool_definitions: [{ type: 'function', function: { name: 'bash' } }] } : {}),
        extra: { k: [1] },
      },
      notes: 'why',
      final_metrics: { total_prompt_tokens: 10, total_steps: steps(version).length },
      steps: steps(version),
      ...(version >= 7 ? { trajectory_id: 'main', subagent_trajectories: [embedded()] } : {}),
    };
  }
  return all;
}

function embedded(): object {
  return {
    schema_version: 'ATIF-v1.7',
    trajectory_id: 'sub-1',
    agent: { name: 'explorer', version: '1' },
    steps: [
      { step_id: 1, source: 'user', message: 'look' },
      {
        step_id: 2,
        source: 'agent',
        message: 'found',
        tool_calls: [call('s')],
        observation: { results: [{ source_call_id: 's', content: 'x' }] },
      },
    ],
  };
}
