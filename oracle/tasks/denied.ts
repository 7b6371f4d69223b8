/**
 * What a graded diff may never change (chapter 5, "The source diff only"), as globs by what they protect. A pattern
 * without a slash is a file's name and holds at any depth; one that ends in a slash is a directory of that name at
 * any depth. Matched without regard to case, since some file systems have none.
 */
const GROUPS = {
  tests: `
    test/ tests/ __tests__/ spec/ specs/ e2e/ __mocks__/ __snapshots__/ testdata/
    test_*.py *_test.py tests.py *_test.go *_spec.rb *_test.rb *.snap *.test.* *.spec.*
    *-test.{js,mjs,cjs,jsx,ts,mts,cts,tsx} *_test.{js,mjs,cjs,jsx,ts,mts,cts,tsx}
    test-*.{js,mjs,cjs,jsx,ts,mts,cts,tsx} test.{js,mjs,cjs,jsx,ts,mts,cts,tsx}
    *{Test,Tests,IT}.{java,kt}`,
  loadedByPython: `
    conftest.py sitecustomize.py usercustomize.py sitecustomize/ usercustomize/ *.pth *.egg-link
    __pycache__/ *.pyc *.pyo *.dist-info/ *.egg-info/`,
  testConfiguration: `
    pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini noxfile.py setup.cfg .coveragerc phpunit.xml* .rspec
    {jest,vitest,vite,karma,ava,playwright,cypress,babel,webpack,rollup,eslint,prettier}.{config,conf}.*
    vitest.workspace.* .mocharc* .babelrc* .swcrc .nycrc* .c8rc* node.config.json .node-options`,
  compilersAndLinters: `
    tsconfig*.json jsconfig.json bunfig.toml deno.json* biome.json* .eslintrc* .prettierrc* mypy.ini .flake8
    ruff.toml`,
  continuousIntegration: `
    .github/ .gitlab/ .circleci/ .buildkite/ .ci/ .woodpecker/ .teamcity/
    .gitlab-ci.yml .travis.yml appveyor.yml .drone.yml azure-pipelines*.yml bitbucket-pipelines.yml
    Jenkinsfile* .pre-commit-config.yaml .lintstagedrc*`,
  toolsOfTheRepository: `
    .git/ .hg/ .svn/ .husky/ .vscode/ .idea/ .devcontainer/ .cargo/ .mvn/ .yarn/
    .claude/ .codex/ .gemini/ .flipstream/ .oracle-flip/
    .gitattributes .gitignore .gitmodules .env* .envrc .nvmrc .node-version .python-version .tool-versions
    rust-toolchain*`,
  buildScripts: `
    Makefile GNUmakefile *.mk CMakeLists.txt *.cmake meson.build BUILD BUILD.bazel *.bzl WORKSPACE* MODULE.bazel
    *.gradle *.gradle.kts gradle.properties gradlew* mvnw* pom.xml build.xml Rakefile build.rs Dockerfile*
    docker-compose* compose.y*ml justfile Taskfile* Gruntfile* gulpfile* binding.gyp`,
  manifestsAndLockfiles: `
    package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-*.yaml bun.lock* .npmrc .yarnrc*
    pyproject.toml setup.py requirements*.txt constraints*.txt Pipfile* poetry.lock uv.lock pdm.lock
    go.mod go.sum go.work* Cargo.toml Cargo.lock Gemfile* *.gemspec composer.json composer.lock mix.exs mix.lock
    pubspec.* *.csproj *.sln *.nuspec`,
  installedCode: `
    node_modules/ bower_components/ site-packages/ dist-packages/ .venv/ venv/ vendor/`,
  codeThatNobodyReadsInADiff: `
    *.so *.pyd *.dll *.dylib *.node *.egg *.whl *.jar *.class`,
} as const;

const patterns = (group: string) => group.trim().split(/\s+/);

export const DEFAULT_DENYLIST: readonly string[] = Object.values(GROUPS).flatMap(patterns);

/** What of them tells that a path is a test's. */
export const TEST_PATTERNS: readonly string[] = patterns(GROUPS.tests);
