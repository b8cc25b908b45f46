import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { lspTest, textOf } from "./testing/lsp-test.ts";

const require = createRequire(import.meta.url);
const program = require.resolve("typescript-language-server/lib/cli.mjs");

it("works with typescript-language-server", { timeout: 120_000 }, async () => {
  const server = {
    command: process.execPath,
    args: [program, "--stdio"],
    extensions: { ".ts": "typescript" },
    // Its second compiler answers while the project is being loaded, from one file alone.
    initialization_options: { tsserver: { useSyntaxServer: "never" } },
    startup_timeout: 60_000,
  };
  await using test = await lspTest({ servers: { typescript: server }, reminders: true });
  await test.put(
    "tsconfig.json",
    '{ "compilerOptions": { "strict": true, "types": [], "module": "preserve" } }',
  );
  await test.put("shape.ts", "export class Circle {\n  constructor(readonly radius: number) {}\n}\n");
  await test.put("use.ts", 'import { Circle } from "./shape";\n\nexport const unit = new Circle(1);\n');
  const circle = { file_path: "use.ts", line: 2, character: 26 };

  expect(textOf(await test.ask({ operation: "goToDefinition", ...circle }))).toContain("\n  shape.ts:1:14");
  const references = textOf(await test.ask({ operation: "findReferences", ...circle }));
  expect(references).toContain("shape.ts:1:14");
  expect(references).toContain("use.ts:3:25");
  expect(textOf(await test.ask({ operation: "hover", ...circle }))).toContain("Circle");
  const symbols = textOf(await test.ask({ operation: "documentSymbol", file_path: "shape.ts" }));
  expect(symbols).toContain("Class Circle (shape.ts:1)");
  expect(symbols).toContain("Constructor constructor (shape.ts:2)");
  const found = textOf(await test.ask({ operation: "workspaceSymbol", query: "unit" }));
  expect(found).toContain("unit (use.ts:3)");

  let text = await test.edit("use.ts", "new Circle(1)", 'new Circle("one")');
  // The compiler may take longer than an answer waits; then the next call tells.
  for (let calls = 0; !text.includes("<system-reminder>") && calls < 200; calls++) {
    text = textOf((await test.session.execute("read_file", { target_file: "use.ts" })).result);
  }
  expect(text).toContain("use.ts:\n  error[L3]: Argument of type 'string' is not assignable");
});
