/**
 * One model profile, with the keys of `settings.json`. Every key is optional; keys that are not listed here are
 * kept and reach the adapter.
 */
export interface ApiConfig {
  readonly provider?: string;
  readonly model?: string;
  readonly base_url?: string;
  /** Name of an environment variable, never the key. */
  readonly api_key_env?: string;
  /** Wire format of provider `router`. */
  readonly format?: string;
  readonly max_tokens?: number;
  readonly thinking_enabled?: boolean;
  readonly thinking_budget?: number;
  /** Seconds between two chunks. */
  readonly timeout?: number;
  readonly context_window?: number;
  readonly azure_endpoint?: string;
  readonly azure_api_version?: string;
  readonly azure_deployment?: string;
  readonly max_retries?: number;
  readonly http_headers?: Readonly<Record<string, string>>;
  readonly reasoning_effort?: string;
  readonly extra_body?: Readonly<Record<string, unknown>>;
  /** Absolute once the settings are read: relative ones are taken from the folder of their file. */
  readonly script_path?: string;
  readonly script_log?: boolean;
  readonly [key: string]: unknown;
}

/** The part of a session's settings that describes its models. */
export interface ModelSettings {
  /** The base profile, listed as `default`. */
  readonly api: ApiConfig;
  /** In configuration order. */
  readonly models: Readonly<Record<string, ApiConfig>>;
  /** Key of `models`. */
  readonly defaultModel?: string;
}
