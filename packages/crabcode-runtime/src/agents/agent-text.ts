import type { AgentSnapshot } from "./agent-types.ts";

const MAX_TITLE_CHARS = 80;

/** The title of an agent without a name. */
export function titleOf(prompt: string, type: string): string {
  const [line = ""] = prompt.trim().split("\n");
  const title = line.trim().slice(0, MAX_TITLE_CHARS).toWellFormed();
  return title === "" ? `${type} agent` : title;
}

/** One third of the head and two thirds of the tail, with a note between them, when a text is too long. */
export function cutResult(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = Math.floor(maxChars / 3);
  const tail = maxChars - head;
  const note = `\n... [${text.length - maxChars} characters cut] ...\n`;
  return (text.slice(0, head) + note + text.slice(text.length - tail)).toWellFormed();
}

/** An agent as a model reads about it. */
export function describeAgent(agent: AgentSnapshot, maxChars: number): string {
  const usage = usageText(agent);
  const lines = [
    `status: ${agent.status}`,
    `agent_id: ${agent.agentId}`,
    `title: ${agent.title}`,
    `subagent_type: ${agent.subagentType}`,
    `model: ${agent.model}`,
    `usage: ${usage === "" ? "none" : usage}`,
    ...(agent.error === "" ? [] : [`error: ${agent.error}`]),
    ...(agent.transcriptPath === undefined ? [] : [`transcript_path: ${agent.transcriptPath}`]),
    ...(agent.hasCallback ? [`callback: ${agent.callbackState}`] : []),
    ...(agent.finalResult === "" ? [] : ["result:", cutResult(agent.finalResult, maxChars)]),
  ];
  return lines.join("\n");
}

/** The message that hands the results of agents to whoever delegated to them. */
export function notificationText(
  agents: readonly { snapshot: AgentSnapshot; toolUseId: string | undefined }[],
  { messageId, maxChars }: { messageId: string; maxChars: number },
): string {
  const share = Math.max(1, Math.floor(maxChars / agents.length));
  return agents.map((agent) => notification(agent, { messageId, maxChars: share })).join("\n\n");
}

function notification(
  { snapshot, toolUseId }: { snapshot: AgentSnapshot; toolUseId: string | undefined },
  { messageId, maxChars }: { messageId: string; maxChars: number },
): string {
  const elements: readonly (readonly [string, string | undefined])[] = [
    ["session-id", snapshot.sessionId],
    ["task-id", snapshot.agentId],
    ["uuid", messageId],
    ["parent-agent-id", snapshot.parentAgentId],
    ["tool-use-id", toolUseId],
    ["callback-epoch", String(snapshot.callbackEpoch)],
    ["status", snapshot.status],
    ["output-file", snapshot.transcriptPath],
    ["summary", snapshot.error === "" ? snapshot.title : snapshot.error],
    ["title", snapshot.title],
    ["subagent-type", snapshot.subagentType],
    ["completed-at", snapshot.finishedAt],
    ["transcript-path", snapshot.transcriptPath],
    ["error", snapshot.error],
    ["usage", usageText(snapshot)],
    ["result", cutResult(snapshot.finalResult, maxChars)],
  ];
  const lines = elements.flatMap(([name, value = ""]) =>
    value === "" ? [] : [`<${name}>${escapeXml(value)}</${name}>`],
  );
  return ["<task-notification>", ...lines, "</task-notification>"].join("\n");
}

function usageText({ usage }: AgentSnapshot): string {
  return Object.entries(usage)
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
