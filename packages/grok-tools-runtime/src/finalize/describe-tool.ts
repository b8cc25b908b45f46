import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { renameSchema } from "./name-overrides.ts";
import { type PlaceholderValues, replacePlaceholders, WAIT_PLACEHOLDER } from "./placeholders.ts";
import type { TemplateScope } from "./template/expression.ts";
import { renderTemplate, stripTemplate } from "./template/render-template.ts";

/** What rendering one tool's texts needs. */
export interface TextRendering {
  readonly scope: TemplateScope;
  readonly placeholders: PlaceholderValues;
  /** Called for each text that could not be rendered and was stripped instead. */
  readonly onFailure: () => void;
}

/** A description with its template rendered and its placeholders filled in. */
export function renderDescription(template: string, rendering: TextRendering): string {
  return replacePlaceholders(render(template, rendering), rendering.placeholders);
}

/**
 * The advertised input schema: every description rendered, placeholders filled in at the top level, parameters
 * renamed.
 */
export function renderSchema(
  schema: JsonObject,
  overrides: Readonly<Record<string, string>>,
  rendering: TextRendering,
): JsonObject {
  const rendered = renderTexts(schema, rendering);
  const { properties } = rendered;
  if (!isJsonObject(properties)) return rendered;
  const filled = Object.entries(properties).map(([name, property]): [string, JsonValue] => [
    name,
    isJsonObject(property) ? fillPlaceholders(property, rendering.placeholders) : property,
  ]);
  return renameSchema({ ...rendered, properties: Object.fromEntries(filled) }, overrides);
}

function fillPlaceholders(property: JsonObject, placeholders: PlaceholderValues): JsonObject {
  const { description } = property;
  if (typeof description !== "string") return property;
  const isWait = description.includes(WAIT_PLACEHOLDER);
  return {
    ...property,
    description: replacePlaceholders(description, placeholders),
    ...(isWait && { maximum: placeholders.maxWaitMs }),
  };
}

function renderTexts(schema: JsonObject, rendering: TextRendering): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    if (key === "description" && typeof value === "string") return [key, render(value, rendering)];
    return [key, renderTextsIn(value, rendering)];
  });
  return Object.fromEntries(entries);
}

function renderTextsIn(value: JsonValue, rendering: TextRendering): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => renderTextsIn(item, rendering));
  return isJsonObject(value) ? renderTexts(value, rendering) : value;
}

function render(template: string, { scope, onFailure }: TextRendering): string {
  try {
    return renderTemplate(template, scope);
  } catch {
    // A faulty template must not make the toolset unusable: the caller is told by a warning in the response.
    onFailure();
    return stripTemplate(template);
  }
}
