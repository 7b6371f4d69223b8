/**
 * What a graded diff may never change (chapter 5, "The source diff only"), as globs. A pattern without a slash is
 * a file's name and holds at any depth; one that ends in a slash is a directory of that name at any depth.
 * Matched without regard to case, since some file systems have none.
 */
export const DEFAULT_DENYLIST: readonly string[] = [
  // tests
  ...['test', 'tests', '__tests__', 'spec', 'specs', 'e2e', '__mocks__', '__snapshots__', 'testdata'].map(
    directory,
  ),
  ...['test_*.py', '*_test.py', 'tests.py', '*_test.go', '*_spec.rb', '*_test.rb', '*.snap'],
  ...[
    '*.test.*',
    '*.spec.*',
    '*-test.{js,mjs,cjs,jsx,ts,mts,cts,tsx}',
    '*_test.{js,mjs,cjs,jsx,ts,mts,cts,tsx}',
    'test-*.{js,mjs,cjs,jsx,ts,mts,cts,tsx}',
  ],
  ...['test.{js,mjs,cjs,jsx,ts,mts,cts,tsx}', '*{Test,Tests,IT}.{java,kt}'],
  // what a test runner reads or loads by itself
  ...[
    'conftest.py',
    'sitecustomize.py',
    'usercustomize.py',
    'sitecustomize/',
    'usercustomize/',
    '*.pth',
    '*.egg-link',
    '__pycache__/',
    '*.pyc',
    '*.pyo',
  ],
  ...[
    'pytest.ini',
    '.pytest.ini',
    'tox.ini',
    'noxfile.py',
    'setup.cfg',
    '.coveragerc',
    'phpunit.xml*',
    '.rspec',
  ],
  ...['{jest,vitest,vite,karma,ava,playwright,cypress,babel,webpack,rollup,eslint,prettier}.{config,conf}.*'],
  ...[
    'vitest.workspace.*',
    '.mocharc*',
    '.babelrc*',
    '.swcrc',
    '.nycrc*',
    '.c8rc*',
    'tsconfig*.json',
    'jsconfig.json',
  ],
  ...[
    'bunfig.toml',
    'deno.json*',
    'biome.json*',
    '.eslintrc*',
    '.prettierrc*',
    'mypy.ini',
    '.flake8',
    'ruff.toml',
  ],
  // continuous integration and the tools of the repository
  ...['.github', '.gitlab', '.circleci', '.buildkite', '.ci', '.woodpecker', '.teamcity'].map(directory),
  ...[
    '.gitlab-ci.yml',
    '.travis.yml',
    'appveyor.yml',
    '.drone.yml',
    'azure-pipelines*.yml',
    'bitbucket-pipelines.yml',
  ],
  ...['Jenkinsfile*', '.pre-commit-config.yaml', '.lintstagedrc*'],
  ...['.git', '.hg', '.svn', '.husky', '.vscode', '.idea', '.devcontainer', '.cargo', '.mvn', '.yarn'].map(
    directory,
  ),
  ...['.claude', '.codex', '.gemini', '.flipstream', '.oracle-flip'].map(directory),
  ...[
    '.gitattributes',
    '.gitignore',
    '.gitmodules',
    '.env*',
    '.envrc',
    '.nvmrc',
    '.node-version',
    '.python-version',
  ],
  ...['.tool-versions', 'rust-toolchain*'],
  // build scripts
  ...[
    'Makefile',
    'GNUmakefile',
    '*.mk',
    'CMakeLists.txt',
    '*.cmake',
    'meson.build',
    'BUILD',
    'BUILD.bazel',
    '*.bzl',
  ],
  ...[
    'WORKSPACE*',
    'MODULE.bazel',
    '*.gradle',
    '*.gradle.kts',
    'gradle.properties',
    'gradlew*',
    'mvnw*',
    'pom.xml',
  ],
  ...[
    'build.xml',
    'Rakefile',
    'build.rs',
    'Dockerfile*',
    'docker-compose*',
    'compose.y*ml',
    'justfile',
    'Taskfile*',
  ],
  ...['Gruntfile*', 'gulpfile*', 'binding.gyp'],
  // manifests and lockfiles
  ...[
    'package.json',
    'package-lock.json',
    'npm-shrinkwrap.json',
    'yarn.lock',
    'pnpm-*.yaml',
    'bun.lock*',
    '.npmrc',
  ],
  ...[
    '.yarnrc*',
    'pyproject.toml',
    'setup.py',
    'requirements*.txt',
    'constraints*.txt',
    'Pipfile*',
    'poetry.lock',
  ],
  ...[
    'uv.lock',
    'pdm.lock',
    'go.mod',
    'go.sum',
    'go.work*',
    'Cargo.toml',
    'Cargo.lock',
    'Gemfile*',
    '*.gemspec',
  ],
  ...['composer.json', 'composer.lock', 'mix.exs', 'mix.lock', 'pubspec.*', '*.csproj', '*.sln', '*.nuspec'],
  // installed code, and code that no one can read in a diff
  ...['node_modules', 'bower_components', 'site-packages', 'dist-packages', '.venv', 'venv', 'vendor'].map(
    directory,
  ),
  ...['*.so', '*.pyd', '*.dll', '*.dylib', '*.node', '*.egg', '*.whl', '*.jar', '*.class'],
];

function directory(name: string): string {
  return `${name}/`;
}
