export interface UpstreamConfig {
  name: string;
  /** Ends without a slash, for example `https://api.openai.com/v1`. */
  base_url: string;
  api_key: string | undefined;
  timeouts_ms: { connect: number; first_byte: number; idle: number };
  retry: number;
  fallback: readonly string[];
}

export interface ModelConfig {
  match: string;
  upstream: string;
  protocol: string;
}

export interface KeyConfig {
  name: string;
  key: string;
  max_level: "read" | "write" | "admin";
  /** Globs over tool names. */
  tools: readonly string[];
  rate: { per_minute?: number };
}

/** Every setting, checked and complete. Members are those of `toolweir.yaml`; see `config/toolweir.yaml` for their meaning. */
export interface Config {
  host: string;
  port: number;
  adminKey: string | undefined;
  /** `sqlite:FILE`, `memory:` or `redis://…`. */
  store: string;
  logLevel: string;
  /** Folder of the tool files; it need not exist. */
  toolsDir: string;
  upstreams: readonly UpstreamConfig[];
  models: readonly ModelConfig[];
  limits: {
    rounds: number;
    tool_calls: number;
    corrections: number;
    run_ms: number;
    tools_phase_ms: number;
    concurrent_runs: number;
  };
  locale: "en" | "zh";
  keepalive: { every_ms: number; as: "comment" | "chunk" | "off" };
  auth: { mode: "keys" | "none"; keys: readonly KeyConfig[] };
  /** `strict`: leave the `toolweir` member out of every answer. */
  compat: "extended" | "strict";
  tools: { network: "open" | "guarded"; allow_hosts: readonly string[] };
}
