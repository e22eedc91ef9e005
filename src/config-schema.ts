import { OIDC, type OidcConfig } from "./config-auth.ts";
import { RATE, type RateConfig, type RateSettings } from "./config-rates.ts";
import {
  amount,
  budget,
  group,
  list,
  milliseconds,
  oneOf,
  type SettingSchema,
  seconds,
  section,
  share,
  text,
  whole,
  yesOrNo,
} from "./config-shapes.ts";

/** What `toolweir.yaml` holds once it is checked and its defaults are filled in. */
export interface Settings {
  host: string;
  port: number;
  admin_key?: string;
  store: string;
  log_level: string;
  log_share: number;
  upstreams: UpstreamSettings[];
  models: {
    match: string;
    upstream?: string;
    protocol: string;
    tools?: "native" | "prompt";
    reasoning: "tagged" | "prefilled";
  }[];
  limits: {
    rounds: number;
    tool_calls: number;
    corrections: number;
    run_ms: number;
    tools_phase_ms: number;
    parallel_calls: number;
    concurrent_runs: number;
    concurrent_runs_per_key?: number;
    queue: number;
    queue_ms: number;
  } & BudgetLimits &
    RateSettings;
  prices: { match: string; input_per_million: number; output_per_million: number }[];
  selection: { max_tools: number };
  locale: "en" | "zh";
  repair: "safe" | "off";
  cancel_early: boolean;
  hints: boolean;
  cache: { max_bytes: number };
  sessions: { ttl_s: number };
  results: { ttl_s: number };
  history: { max_bytes: number };
  keepalive: { every_ms: number; as: "comment" | "chunk" | "off" };
  auth: { mode?: "keys" | "none"; keys: KeySettings[]; oidc?: OidcConfig };
  compat: "extended" | "strict";
  approvals: ApprovalSettings;
  tools: { network?: "open" | "guarded"; allow_hosts: string[] };
  runs: { max: number; max_bytes: number; content: "full" | "redacted" };
  overload: { memory_bytes?: number; loop_delay_ms: number };
  ledger: { min_acks: number };
}

/** What runs may use up. Costs are in millionths of the currency unit that prices are in. */
export interface BudgetLimits {
  run_tokens?: number;
  run_cost_micros?: number;
  session_tokens?: number;
  session_cost_micros?: number;
  key_tokens_per_day?: number;
  key_tokens_per_month?: number;
  key_cost_micros_per_day?: number;
  key_cost_micros_per_month?: number;
}

/** A key's own budget; what it does not say is as `limits.key_…`. */
export interface KeyBudgetSettings {
  tokens_per_day?: number;
  tokens_per_month?: number;
  cost_micros_per_day?: number;
  cost_micros_per_month?: number;
}

export interface UpstreamSettings {
  name: string;
  base_url?: string;
  api_key?: string;
  timeouts_ms: { connect: number; first_byte: number; idle: number };
  retry: number;
  fallback: string[];
}

/** How people are asked about calls. */
export interface ApprovalSettings {
  ttl_s: number;
  mode: "park" | "hold" | "client";
  hold_s: number;
  webhook?: { url: string; secret: string };
}

interface KeySettings {
  name: string;
  key: string;
  max_level: "read" | "write" | "admin";
  tools: string[];
  approve: boolean;
  role: "client" | "approver" | "tools_admin" | "metrics" | "admin";
  rate?: RateConfig;
  budget?: KeyBudgetSettings;
}

const upstream = group(
  {
    name: text("a name for this upstream"),
    base_url: text("an http or https URL, for example https://api.openai.com/v1"),
    api_key: text("the key as text, or nothing where clients bring their own", { minLength: 0 }),
    timeouts_ms: section({
      connect: milliseconds(5_000),
      first_byte: milliseconds(60_000),
      idle: milliseconds(30_000),
    }),
    retry: whole(2, 0, 10),
    fallback: list(text("the name of another upstream"), "a list of upstream names"),
  },
  ["name"],
);

const model = group(
  {
    match: text('a model name, "*" stands for anything'),
    upstream: text("the name of an upstream"),
    protocol: text("the name of a protocol", { default: "native" }),
    tools: oneOf(["native", "prompt"]),
    reasoning: oneOf(["tagged", "prefilled"], "tagged"),
  },
  ["match"],
);

/** A key is sent as `Bearer KEY`: what a header cannot carry, or would end at a blank, could never be used. */
export const KEY = text(
  "the key as text of printable ASCII without blanks (in quotes if it has digits only)",
  {
    pattern: "^[!-~]+$",
  },
);

const key = group(
  {
    name: text("a name for this key"),
    key: KEY,
    max_level: oneOf(["read", "write", "admin"], "write"),
    tools: list(text('a tool name, "*" stands for anything'), "a list of tool names", ["*"]),
    approve: yesOrNo(false),
    role: oneOf(["client", "approver", "tools_admin", "metrics", "admin"], "client"),
    rate: RATE,
    budget: group({
      tokens_per_day: budget,
      tokens_per_month: budget,
      cost_micros_per_day: budget,
      cost_micros_per_month: budget,
    }),
  },
  ["name", "key"],
);

/** Where conversations and tools are kept: a file, memory or Redis. */
export const STORE = text("sqlite:FILE, memory: or redis://HOST:PORT/DB", {
  pattern: "^(sqlite:.+|memory:|(?:redis|valkey)s?(?:\\+(?:sentinel|cluster))?://.+)$",
  default: "sqlite:data/toolweir.db",
});

export const LOG_LEVEL = oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"], "info");

/** 0 lets the system choose. */
export const PORT = whole(8787, 0, 65_535);

/** Every setting of `toolweir.yaml`. A member that does not stand here is a fault: a misspelt key stops the start. */
export const SETTINGS: SettingSchema = group({
  host: text("a host name or address to listen on", { default: "127.0.0.1" }),
  port: PORT,
  admin_key: KEY,
  store: STORE,
  log_level: LOG_LEVEL,
  log_share: share(1),
  upstreams: { ...list(upstream, "a list of at least one upstream", [{ name: "main" }]), minItems: 1 },
  models: list(model, "a list of models"),
  limits: section({
    rounds: whole(10, 1, 1_000),
    tool_calls: whole(10, 1, 10_000),
    corrections: whole(3, 0, 1_000),
    run_ms: milliseconds(300_000),
    tools_phase_ms: milliseconds(30_000),
    parallel_calls: whole(8, 1, 64),
    concurrent_runs: whole(2_000, 1),
    concurrent_runs_per_key: whole(undefined, 1),
    queue: whole(64, 0, 10_000),
    queue_ms: milliseconds(2_000),
    key_rate: RATE,
    user_rate: RATE,
    session_rate: RATE,
    run_tokens: budget,
    run_cost_micros: budget,
    session_tokens: budget,
    session_cost_micros: budget,
    key_tokens_per_day: budget,
    key_tokens_per_month: budget,
    key_cost_micros_per_day: budget,
    key_cost_micros_per_month: budget,
  }),
  prices: list(
    group(
      {
        match: text('a model name, "*" stands for anything'),
        input_per_million: amount,
        output_per_million: amount,
      },
      ["match", "input_per_million", "output_per_million"],
    ),
    "a list of prices",
  ),
  selection: section({ max_tools: whole(10, 1, 128) }),
  locale: oneOf(["en", "zh"], "en"),
  repair: oneOf(["safe", "off"], "safe"),
  cancel_early: yesOrNo(false),
  hints: yesOrNo(true),
  sessions: section({ ttl_s: whole(86_400, 1, 31_536_000) }),
  results: section({ ttl_s: whole(3_600, 1, 2_592_000) }),
  history: section({ max_bytes: whole(1_048_576, 0, 1_073_741_824) }),
  cache: section({ max_bytes: whole(33_554_432, 0, 4_294_967_296) }),
  keepalive: section({ every_ms: milliseconds(15_000), as: oneOf(["comment", "chunk", "off"], "comment") }),
  auth: section({ mode: oneOf(["keys", "none"]), keys: list(key, "a list of client keys"), oidc: OIDC }),
  compat: oneOf(["extended", "strict"], "extended"),
  approvals: section({
    ttl_s: seconds(900, 86_400),
    mode: oneOf(["park", "hold", "client"], "park"),
    hold_s: seconds(120, 3_600),
    webhook: group(
      {
        url: text("an http or https URL", { pattern: "^https?://[^/?#@]+([/?].*)?$" }),
        secret: text("a secret for signatures"),
      },
      ["url", "secret"],
    ),
  }),
  ledger: section({ min_acks: whole(0, 0, 10) }),
  runs: section({
    max: whole(1_000, 1, 100_000),
    max_bytes: whole(67_108_864, 1_048_576, 4_294_967_296),
    content: oneOf(["full", "redacted"], "full"),
  }),
  overload: section({
    memory_bytes: whole(undefined, 1_048_576, 1_099_511_627_776),
    loop_delay_ms: milliseconds(500),
  }),
  tools: section({
    network: oneOf(["open", "guarded"]),
    allow_hosts: list(text("a host name or address"), "a list of host names"),
  }),
});
