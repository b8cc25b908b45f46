import type { Linter } from "./linter.ts";

const python = {
  language: "python",
  extensions: ["py", "pyi"],
  localFolders: [".venv/bin", "venv/bin"],
  needsConfig: false,
  takes: "paths",
  output: "stdout",
} as const;

const TYPESCRIPT = ["ts", "tsx", "mts", "cts"];

const javascript = {
  language: "javascript",
  extensions: [...TYPESCRIPT, "js", "jsx", "mjs", "cjs"],
  localFolders: ["node_modules/.bin"],
  configSections: [],
  output: "stdout",
} as const;

/** Linters of Python, JavaScript and TypeScript. None is let change a file, whatever its configuration says. */
export const scriptLinters: readonly Linter[] = [
  {
    ...python,
    name: "ruff",
    program: "ruff",
    configFiles: ["ruff.toml", ".ruff.toml"],
    configSections: [{ file: "pyproject.toml", pattern: /^\[tool\.ruff\b/m }],
    runsProjectCode: false,
    issue: /^.+?:\d+:\d+: /,
    isFinished: (exitCode) => exitCode <= 1,
    args: ({ paths }) => ["check", "--quiet", "--no-fix", "--no-cache", "--output-format=concise", ...paths],
  },
  {
    ...python,
    name: "pylint",
    program: "pylint",
    configFiles: ["pylintrc", ".pylintrc", "pylintrc.toml", ".pylintrc.toml"],
    configSections: [
      { file: "pyproject.toml", pattern: /^\[tool\.pylint\b/m },
      { file: "setup.cfg", pattern: /^\[pylint\b/m },
    ],
    // `init-hook` is a program, `load-plugins` names modules.
    runsProjectCode: true,
    issue: /^.+?:\d+:\d+: [CRWEFI]\d{4}: /,
    // A sum of what kinds of messages there were; 1 is a crash, 32 a wrong option.
    isFinished: (exitCode) => exitCode < 32 && exitCode % 2 === 0,
    args: ({ paths }) => [
      "--recursive=y",
      "--persistent=n",
      "--score=n",
      "--output-format=text",
      "--msg-template={path}:{line}:{column}: {msg_id}: {msg} ({symbol})",
      ...paths,
    ],
  },
  {
    ...python,
    name: "mypy",
    program: "mypy",
    configFiles: ["mypy.ini", ".mypy.ini"],
    configSections: [
      { file: "pyproject.toml", pattern: /^\[tool\.mypy\b/m },
      { file: "setup.cfg", pattern: /^\[mypy\b/m },
    ],
    // `plugins` names modules and files.
    runsProjectCode: true,
    issue: /^.+?:\d+(:\d+)?: error: /,
    isFinished: (exitCode) => exitCode <= 1,
    args: ({ paths }) => [
      "--no-color-output",
      "--no-error-summary",
      "--show-column-numbers",
      "--cache-dir=/dev/null",
      ...paths,
    ],
  },
  {
    ...javascript,
    name: "eslint",
    program: "eslint",
    configFiles: [
      ...["js", "mjs", "cjs", "ts", "mts", "cts"].map((ending) => `eslint.config.${ending}`),
      ...["js", "cjs", "json", "yml", "yaml"].map((ending) => `.eslintrc.${ending}`),
      ".eslintrc",
    ],
    configSections: [{ file: "package.json", pattern: /"eslintConfig"\s*:/ }],
    needsConfig: true,
    // The configuration is a program, or names plugins and parsers of the project.
    runsProjectCode: true,
    takes: "paths",
    issue: /^\s+\d+:\d+\s+(error|warning)\s/,
    isFinished: (exitCode) => exitCode <= 1,
    args: ({ paths }) => ["--no-color", "--format=stylish", ...paths],
  },
  {
    ...javascript,
    name: "biome",
    program: "biome",
    configFiles: ["biome.json", "biome.jsonc", ".biome.json", ".biome.jsonc"],
    needsConfig: false,
    runsProjectCode: false,
    takes: "paths",
    issue: /^::(error|warning|notice) /,
    isFinished: (exitCode) => exitCode <= 1,
    args: ({ paths }) => ["lint", "--colors=off", "--reporter=github", "--max-diagnostics=none", ...paths],
  },
  {
    ...javascript,
    name: "tsc",
    program: "tsc",
    extensions: TYPESCRIPT,
    configFiles: ["tsconfig.json"],
    // One that only lists other projects would check nothing and be content.
    emptyConfig: /"files"\s*:\s*\[\s*\]/,
    needsConfig: true,
    runsProjectCode: false,
    // With files of its own choice it would not read the configuration.
    takes: "project",
    issue: /^(.+\(\d+,\d+\): )?error TS\d+: /,
    isFinished: (exitCode) => exitCode <= 2,
    // A composite or incremental project would get a file with what was built.
    args: () => [
      "--noEmit",
      "--pretty",
      "false",
      "--composite",
      "false",
      "--incremental",
      "false",
      "--tsBuildInfoFile",
      "null",
      "-p",
      ".",
    ],
  },
];
