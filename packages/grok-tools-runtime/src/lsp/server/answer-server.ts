import { ErrorCodes, ResponseError } from "vscode-jsonrpc/node";
import { z } from "zod";
import type { JsonValue } from "../../json.ts";
import type { LspServerConfig } from "../config/lsp-server-config.ts";
import { settingsSection } from "../config/settings-section.ts";
import type { WorkspaceFolder } from "./initialize-params.ts";

const configurationParams = z.object({ items: z.array(z.object({ section: z.string().optional() })) });

/** What a server is answered when it asks something itself. Nobody is here to choose, and it may change nothing. */
export function answerServer(
  { method, params }: { readonly method: string; readonly params: unknown },
  { config, folder }: { readonly config: LspServerConfig; readonly folder: WorkspaceFolder },
): JsonValue | ResponseError<void> {
  switch (method) {
    case "workspace/configuration": {
      const parsed = configurationParams.safeParse(params);
      if (!parsed.success) return new ResponseError(ErrorCodes.InvalidParams, "expected items");
      return parsed.data.items.map(({ section }) => settingsSection(config.settings, section));
    }
    case "workspace/workspaceFolders":
      return [{ ...folder }];
    case "client/registerCapability":
    case "client/unregisterCapability":
    case "window/showMessageRequest":
    case "window/workDoneProgress/create":
    case "workspace/diagnostic/refresh":
      return null;
    case "window/showDocument":
      return { success: false };
    case "workspace/applyEdit":
      return { applied: false, failureReason: "this client does not change files for a server" };
    default:
      return new ResponseError(ErrorCodes.MethodNotFound, `this client has no method ${method}`);
  }
}
