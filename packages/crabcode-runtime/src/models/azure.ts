import type { ApiConfig } from "../settings/model-settings.ts";

/** The first stable version of the data plane that tells the usage of a stream. */
const DEFAULT_API_VERSION = "2024-10-21";

/** A deployment of Azure OpenAI, as far as profile and variables name it. */
export interface AzureDeployment {
  readonly name: string | undefined;
  /** Address of the resource, or one that names the deployment already. */
  readonly endpoint: string | undefined;
  readonly apiVersion: string;
}

/** What the profile says, else the variables that Azure's own tools read. */
export function azureDeployment(
  config: ApiConfig,
  variable: (name: string) => string | undefined,
): AzureDeployment {
  return {
    name: config.azure_deployment ?? variable("AZURE_OPENAI_DEPLOYMENT") ?? config.model,
    endpoint: config.base_url ?? config.azure_endpoint ?? variable("AZURE_OPENAI_ENDPOINT"),
    apiVersion: config.azure_api_version ?? variable("AZURE_OPENAI_API_VERSION") ?? DEFAULT_API_VERSION,
  };
}

/** The address below which a deployment answers. */
export function azureBaseUrl(endpoint: string, deployment: string): string {
  const base = endpoint.replace(/\/+$/, "");
  if (/\/openai\/(deployments\/[^/]+|v1)$/.test(base)) return base;
  return `${base}/openai/deployments/${encodeURIComponent(deployment)}`;
}
