import { describe, expect, it } from "vitest";
import { renderTemplate, stripTemplate } from "./render-template.ts";

const scope = {
  tools: { by_kind: { read: "Read" } },
  params: { read: { target_file: "path" } },
  is_windows: false,
  names: ["a", "b"],
};

describe("renderTemplate", () => {
  it.each([
    ["Use ${{ tools.by_kind.read }}.", "Use Read."],
    ["[${{ tools.by_kind.edit }}]", "[]"],
    ["${%- if tools.by_kind.search %}A${%- endif %}OK", "OK"],
    ["x\n  ${%- if tools.by_kind.read -%}\n  A\n${%- endif %} y", "xA y"],
    ['${% if is_windows %}w${% elif params.read.target_file == "path" %}p${% else %}e${% endif %}', "p"],
    ["${% if not is_windows and (tools.by_kind.edit or tools.by_kind.read) %}yes${% endif %}", "yes"],
    ["${% for n in names %}<${{ n | upper }}>${% endfor %}", "<A><B>"],
    [
      "${{ tools.by_kind.edit | default(\"none\") }} ${{ names | join(', ') }} ${{ names | length }}",
      "none a, b 2",
    ],
    ["a ${# note #}b ${{ tools.by_kind.read }}", "a b Read"],
    ["only ${# a comment #}", "only ${# a comment #}"],
    ["echo ${VAR} {{ x }} {y}", "echo ${VAR} {{ x }} {y}"],
    ["[${{ tools.constructor }}]", "[]"],
  ])("renders %j", (template, expected) => {
    expect(renderTemplate(template, scope)).toBe(expected);
  });

  it.each([
    "${{ params.edit.old_string }}",
    "${%- if %}broken",
    "Use ${{ x y }} z",
    "${{ tools.by_kind.read",
    "${% endif %}",
    "${% if is_windows %}",
    "${{ a | system }}",
    `\${{ ${"(".repeat(5_000)} }}`,
  ])("refuses %j", (template) => {
    expect(() => renderTemplate(template, scope)).toThrow(expect.objectContaining({ name: "TemplateError" }));
  });
});

describe("stripTemplate", () => {
  it.each([
    ["${%- if %}broken", "broken"],
    ["Use ${{ x y }} z", "Use  z"],
    ["open ${{ x", "open ${{ x"],
    ["echo ${VAR}", "echo ${VAR}"],
  ])("takes the markers out of %j", (template, expected) => {
    expect(stripTemplate(template)).toBe(expected);
  });
});
