/** The arrows of docs/design.md: who may import whom. */
const FOLDERS = ['schemas', 'log', 'producers', 'streams', 'consumers', 'oracle', 'warehouse', 'jobs', 'cli'];
const MAY = {
  schemas: [],
  log: ['schemas'],
  producers: ['schemas', 'log'],
  streams: ['schemas'],
  consumers: ['schemas', 'log', 'warehouse'],
  oracle: ['schemas', 'log'],
  warehouse: ['schemas'],
  jobs: ['schemas', 'log', 'warehouse'],
  cli: FOLDERS,
};

module.exports = {
  forbidden: [
    ...FOLDERS.map((from) => ({
      name: `arrows-of-${from}`,
      severity: 'error',
      comment: `${from}/ may import ${MAY[from].join(', ') || 'nothing of ours'}`,
      from: { path: `^${from}/`, pathNot: '\\.test\\.ts$' },
      to: {
        path: `^(${FOLDERS.join('|')}|tests|bench|scripts)/`,
        pathNot: `^(${[from, ...MAY[from]].join('|')})/`,
      },
    })),
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'streams-are-pure',
      severity: 'error',
      comment: 'streams/ does no I/O: only node:crypto (hashes, signatures) of the runtime',
      from: { path: '^streams/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
