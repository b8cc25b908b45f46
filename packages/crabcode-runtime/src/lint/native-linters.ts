import type { Linter } from "./linter.ts";

const common = { localFolders: [], configSections: [] } as const;
const c = {
  ...common,
  language: "c",
  extensions: ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx"],
} as const;
const java = {
  ...common,
  language: "java",
  extensions: ["java"],
  needsConfig: false,
  takes: "paths",
} as const;

/** Linters of Go, Rust, C, C++ and Java. None is let change a source file, whatever its configuration says. */
export const nativeLinters: readonly Linter[] = [
  {
    ...common,
    name: "golangci-lint",
    language: "go",
    extensions: ["go"],
    program: "golangci-lint",
    configFiles: ["go.mod"],
    needsConfig: true,
    // Its configuration names plugins, and packages with C code are compiled.
    runsProjectCode: true,
    takes: "project",
    output: "stdout",
    issue: /^.+?\.go:\d+(:\d+)?: /,
    isFinished: (exitCode) => exitCode <= 1,
    args: () => ["run", "--fix=false", "--color=never", "./..."],
  },
  {
    ...common,
    name: "clippy",
    language: "rust",
    extensions: ["rs"],
    program: "cargo",
    configFiles: ["Cargo.toml"],
    needsConfig: true,
    // Build scripts and macros of the project are programs.
    runsProjectCode: true,
    takes: "project",
    output: "stderr",
    issue: /^.+?:\d+:\d+: (warning|error)\b/,
    // What does not compile is an issue too.
    isFinished: (exitCode) => exitCode === 0 || exitCode === 101,
    args: () => ["clippy", "--quiet", "--color=never", "--message-format=short"],
  },
  {
    ...c,
    name: "clang-tidy",
    program: "clang-tidy",
    configFiles: [".clang-tidy"],
    needsConfig: false,
    // Arguments of the compiler, which the project keeps in a file, may load plugins.
    runsProjectCode: true,
    takes: "files",
    output: "stdout",
    issue: /^.+?:\d+:\d+: (warning|error): /,
    isFinished: (exitCode) => exitCode <= 1,
    args: ({ paths }) => ["--quiet", ...paths],
  },
  {
    ...c,
    name: "cppcheck",
    program: "cppcheck",
    configFiles: [],
    needsConfig: false,
    runsProjectCode: false,
    takes: "paths",
    output: "stderr",
    issue: /^.+?:\d+:\d+: (error|warning|style|performance|portability): /,
    isFinished: (exitCode) => exitCode === 0,
    args: ({ paths }) => [
      "--quiet",
      "--enable=warning,style,performance,portability",
      "--template={file}:{line}:{column}: {severity}: {message} [{id}]",
      ...paths,
    ],
  },
  {
    ...java,
    name: "checkstyle",
    program: "checkstyle",
    configFiles: ["checkstyle.xml", ".checkstyle.xml", "config/checkstyle/checkstyle.xml"],
    // The configuration names classes to load.
    runsProjectCode: true,
    output: "stdout",
    issue: /^\[(ERROR|WARN|INFO)\] .+?:\d+/,
    // The number of errors; the largest two say that it could not run.
    isFinished: (exitCode) => exitCode < 254,
    args: ({ configFile, paths }) => ["-c", configFile ?? "/sun_checks.xml", ...paths],
  },
  {
    ...java,
    name: "pmd",
    program: "pmd",
    configFiles: ["pmd.xml", "ruleset.xml", "config/pmd/pmd.xml"],
    // The rules name classes to load.
    runsProjectCode: true,
    output: "stdout",
    issue: /^.+?:\d+:\t/,
    isFinished: (exitCode) => exitCode === 0 || exitCode === 4,
    args: ({ configFile, paths }) => [
      "check",
      "--no-cache",
      "--no-progress",
      "--format=text",
      `--rulesets=${configFile ?? "rulesets/java/quickstart.xml"}`,
      ...paths,
    ],
  },
];
