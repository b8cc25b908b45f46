import type { ApiConfig } from "../settings/model-settings.ts";
import { azureBaseUrl, azureDeployment } from "./azure.ts";
import type { ProviderFacts } from "./providers.ts";

/** Which model a profile means, and where it is. */
export interface ModelPlace {
  readonly model: string;
  readonly baseUrl: string;
  /** Query parameters of every request. */
  readonly query: Readonly<Record<string, string>>;
}

/** The place of a profile's model, or the key of the profile that is missing for it. */
export function modelPlace(
  config: ApiConfig,
  facts: ProviderFacts,
  variable: (name: string | undefined) => string | undefined,
): ModelPlace | { readonly missing: string } {
  if (config.provider === "azure") {
    const { name, endpoint, apiVersion } = azureDeployment(config, variable);
    if (name === undefined) return { missing: "azure_deployment" };
    if (endpoint === undefined) return { missing: "azure_endpoint" };
    return { model: name, baseUrl: azureBaseUrl(endpoint, name), query: { "api-version": apiVersion } };
  }
  const model = config.model ?? facts.defaultModel;
  if (model === undefined) return { missing: "model" };
  const baseUrl = config.base_url ?? variable(facts.baseUrlVariable) ?? facts.baseUrl;
  return baseUrl === undefined ? { missing: "base_url" } : { model, baseUrl, query: {} };
}
