import { describe, expect, it } from "vitest";
import { rewriteModuleSyntax } from "./rewrite-module-syntax.ts";

const names = { importName: "$impor", exportName: "$expor" };

describe("rewriteModuleSyntax", () => {
  it.each([
    [`await import("a")`, `await $impor("a")`],
    [`import /* b */ ("a", { with: {} })`, `$impor /* b */ ("a", { with: {} })`],
    ["`${import('a')}` + import(import('b'))", "`${$impor('a')}` + $impor($impor('b'))"],
    [`text("import(1)"); /import(1)/; // import(1)`, `text("import(1)"); /import(1)/; // import(1)`],
    [`a.import("x"); a?.import("y")`, `a.import("x"); a?.import("y")`],
    [`const o = { import() {}, get import() {} }; class A { import(x) {} }`, undefined],
    [`import.meta; x.export = { export: 1 }; class A { export = 1; export() {} }`, undefined],
    [`export const a = 1; export let b; export var c`, `       const a = 1;        let b;        var c`],
    [`export async function f() {} export class K {}`, `       async function f() {}        class K {}`],
    [`export { a,\n b as default }; x`, `           \n               ; x`],
    [`export {}`, `         `],
    [`export default 1 + 1`, `const  $expor= 1 + 1`],
    [`export default () => 1`, `const  $expor= () => 1`],
    [`export default async x => x`, `const  $expor= async x => x`],
    [`export default async () => 1`, `const  $expor= async () => 1`],
    [`export default function () {}`, `const  $expor= function () {}`],
    [`export default class extends A {}`, `const  $expor= class extends A {}`],
    [`export default function* g() {}`, `               function* g() {}`],
    [`export default async function f() {}`, `               async function f() {}`],
    [`export /* default */\ndefault class K {}`, `       /* default */\n        class K {}`],
  ])("turns %s", async (source, expected = source) => {
    const { code } = await rewriteModuleSyntax(source, names);
    expect(code).toBe(expected);
    expect(code).toHaveLength(source.length);
  });

  it("says whether there is a dynamic import", async () => {
    expect(await rewriteModuleSyntax(`import("a")`, names)).toMatchObject({ hasDynamicImport: true });
    expect(await rewriteModuleSyntax(`export {}; a.import()`, names)).toMatchObject({
      hasDynamicImport: false,
    });
  });

  it("lets other work run during a large source", async () => {
    let turns = 0;
    const interval = setInterval(() => {
      turns += 1;
    });
    await rewriteModuleSyntax(`export const a = [${"1, ".repeat(300_000)}]`, names);
    clearInterval(interval);
    expect(turns).toBeGreaterThan(3);
  });
});
