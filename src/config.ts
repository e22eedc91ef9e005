import { dirname, join } from "node:path";
import { type OidcConfig, readAuth } from "./config-auth.ts";
import { type BudgetConfig, type PriceConfig, readBudgets, readPrices } from "./config-budgets.ts";
import { ConfigError, type ConfigFault } from "./config-faults.ts";
import { configFile, type Environment, type ReadFile, readSettings } from "./config-file.ts";
import { notices } from "./config-notices.ts";
import { type Rated, readRates } from "./config-rates.ts";
import { KEY, LOG_LEVEL, PORT, type Settings, STORE, type UpstreamSettings } from "./config-schema.ts";
import { isBaseUrl, isKey, isLevel, isPort, isStore, isWorkers } from "./config-values.ts";
import { readWorkers } from "./config-workers.ts";
import { canPrompt, isPromptOnly } from "./core/protocol/text/prompt/formats.ts";
import { PROTOCOL_NAMES } from "./core/protocol/text/text-protocol.ts";

export interface UpstreamConfig {
  name: string;
  /** Ends without a slash, for example `https://api.openai.com/v1`. */
  base_url: string;
  /** `undefined`: the client's own `Authorization` is passed on. */
  api_key: string | undefined;
  timeouts_ms: { connect: number; first_byte: number; idle: number };
  retry: number;
  fallback: readonly string[];
}

export interface ModelConfig {
  match: string;
  upstream: string;
  protocol: string;
  /** `prompt`: the upstream has no tool support, so tools and calls are written into the messages. */
  tools: "native" | "prompt";
  /** `prefilled`: the template has opened the think block, so a reply begins inside of it. */
  reasoning: "tagged" | "prefilled";
}

export interface KeyConfig {
  name: string;
  key: string;
  max_level: "read" | "write" | "admin";
  /** Globs over tool names. */
  tools: readonly string[];
  /** May decide about calls that wait for a person. */
  approve: boolean;
  role: "client" | "approver" | "tools_admin" | "metrics" | "admin";
}

/** Settings that are used as they stand in the file. */
const PLAIN = [
  ...(["limits", "locale", "repair", "cancel_early", "hints", "cache", "sessions"] as const),
  ...([
    "results",
    "history",
    "selection",
    "keepalive",
    "compat",
    "approvals",
    "overload",
    "runs",
    "ledger",
    "log_share",
  ] as const),
] as const;

/** Every setting, checked and complete. Members are those of `toolweir.yaml`; see `config/toolweir.yaml` for their meaning. */
export interface Config extends Pick<Settings, (typeof PLAIN)[number]> {
  host: string;
  port: number;
  adminKey: string | undefined;
  /** Goes into the digests of stored keys. */
  keyPepper: string | undefined;
  /** Processes on this machine. */
  workers: number;
  /** `sqlite:FILE`, `memory:` or `redis://…`. */
  store: string;
  logLevel: string;
  /** Folder of the tool files; it need not exist. */
  toolsDir: string;
  /** At least one; the first is the default. */
  upstreams: readonly UpstreamConfig[];
  models: readonly ModelConfig[];
  budgets: BudgetConfig;
  prices: readonly PriceConfig[];
  rates: Rated;
  auth: { mode: "keys" | "none"; keys: readonly KeyConfig[]; oidc?: OidcConfig };
  tools: { network: "open" | "guarded"; allow_hosts: readonly string[] };
}

/** The settings, and what their author should be told though nothing is wrong. */
export interface LoadedConfig extends Config {
  /** Sentences about settings that have no effect. */
  notices: readonly string[];
}

const OPENAI_URL = "https://api.openai.com/v1";
/**
 * The one reading of the configuration:
 * 1. the file (`TOOLWEIR_CONFIG`, else `config/toolweir.yaml`, which need not exist), with `${NAME}` from the environment;
 * 2. `TOOLWEIR_*` variables win over the file, `OPENAI_*` fill in what neither has set. An empty variable counts as unset;
 * 3. `TOOLWEIR_UPSTREAM_*` and `OPENAI_*` concern the first upstream only. A file that has an `api_key` there, even an empty
 *    one, has decided: `OPENAI_API_KEY` is not sent to it.
 * The result is frozen at every depth. Throws `ConfigError` with every fault of the file, else with every fault between settings.
 */
export function loadConfig(env: Environment, readFile?: ReadFile): LoadedConfig {
  const file = configFile(env);
  const settings = readSettings(env, readFile);
  const loader = new Loader(env, file, settings);
  const config = loader.config();
  if (loader.faults.length > 0) throw new ConfigError(loader.faults);
  return deepFreeze({ ...config, notices: notices(settings, config.auth.mode) });
}

/** Whether only programs on this machine can reach the address. */
function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}

/** A setting with the place it came from, so that a fault can name it. */
interface Sourced<T> {
  value: T;
  file: string;
  path: string;
}

class Loader {
  readonly faults: ConfigFault[] = [];
  readonly #env: Environment;
  readonly #file: string;
  readonly #settings: Settings;

  constructor(env: Environment, file: string, settings: Settings) {
    this.#env = env;
    this.#file = file;
    this.#settings = settings;
  }

  config(): Config {
    const settings = this.#settings;
    const host = (this.#env["TOOLWEIR_HOST"] || settings.host).replace(/^\[(.*)\]$/, "$1");
    const adminKey = this.#variable("TOOLWEIR_ADMIN_KEY", KEY.description, isKey) ?? settings.admin_key;
    const store = this.#variable("TOOLWEIR_STORE", STORE.description, isStore) ?? settings.store;
    const upstreams = this.#upstreams();
    const plain = Object.fromEntries(PLAIN.map((name) => [name, settings[name]]));
    const budgets = readBudgets(settings);
    return {
      ...(plain as Pick<Settings, (typeof PLAIN)[number]>),
      host,
      port: Number(this.#variable("TOOLWEIR_PORT", PORT.description, isPort) ?? settings.port),
      adminKey,
      keyPepper: this.#env["TOOLWEIR_KEY_PEPPER"] || undefined,
      workers: readWorkers(
        this.#variable("TOOLWEIR_WORKERS", "auto, or a whole number from 1 to 256", isWorkers),
        store,
        (expected) => this.#fault("TOOLWEIR_WORKERS", expected, "environment"),
      ),
      store,
      logLevel: this.#variable("TOOLWEIR_LOG_LEVEL", LOG_LEVEL.description, isLevel) ?? settings.log_level,
      toolsDir: join(dirname(this.#file), "tools"),
      upstreams,
      models: this.#models(upstreams),
      budgets,
      prices: readPrices(settings, budgets, (path, expected) => this.#fault(path, expected)),
      rates: readRates(settings.limits, settings.auth.keys),
      auth: readAuth(settings.auth, {
        loopback: isLoopback(host),
        adminKey,
        fault: (path, expected) => this.#fault(path, expected),
        unique: (...values) => this.#unique(...values),
      }),
      tools: {
        network: settings.tools.network ?? (isLoopback(host) ? "open" : "guarded"),
        allow_hosts: settings.tools.allow_hosts,
      },
    };
  }

  #variable(name: string, expected: string, accepts: (value: string) => boolean): string | undefined {
    const value = this.#env[name] || undefined;
    if (value !== undefined && !accepts(value)) this.#fault(name, expected, "environment");
    return value;
  }

  #upstreams(): UpstreamConfig[] {
    const list = this.#settings.upstreams;
    const names = list.map(({ name }) => name);
    this.#unique(names, "upstreams", "name");
    return list.map((upstream, index) => {
      upstream.fallback.forEach((name, at) => {
        const others = names.filter((other) => other !== upstream.name);
        if (others.includes(name)) return;
        this.#fault(
          `upstreams[${index}].fallback[${at}]`,
          `the name of another upstream (${others.join(", ") || "there is none"})`,
        );
      });
      return {
        ...upstream,
        base_url: this.#baseUrl(upstream, index),
        api_key: this.#apiKey(upstream, index),
      };
    });
  }

  #baseUrl(upstream: UpstreamSettings, index: number): string {
    const path = `upstreams[${index}].base_url`;
    const sources: Sourced<string | undefined>[] = [{ value: upstream.base_url, file: this.#file, path }];
    if (index === 0) {
      const variable = (name: string) => ({ value: this.#env[name], file: "environment", path: name });
      sources.unshift(variable("TOOLWEIR_UPSTREAM_URL"));
      sources.push(variable("OPENAI_BASE_URL"), { value: OPENAI_URL, file: this.#file, path });
    }
    const source = sources.find(({ value }) => value) ?? { value: "", file: this.#file, path };
    const url = source.value?.trim().replace(/\/+$/, "") ?? "";
    if (!isBaseUrl(url)) {
      const expected =
        "an http or https URL without user, query or fragment, for example https://api.openai.com/v1";
      this.#fault(source.path, expected, source.file);
    }
    return url;
  }

  #apiKey(upstream: UpstreamSettings, index: number): string | undefined {
    if (index > 0) return upstream.api_key || undefined;
    return (
      this.#env["TOOLWEIR_UPSTREAM_KEY"] || (upstream.api_key ?? this.#env["OPENAI_API_KEY"]) || undefined
    );
  }

  #models(upstreams: readonly UpstreamConfig[]): ModelConfig[] {
    const names = upstreams.map(({ name }) => name);
    return this.#settings.models.map(
      ({ match, upstream = names[0] ?? "", protocol, tools, reasoning }, index) => {
        if (!names.includes(upstream)) {
          this.#fault(`models[${index}].upstream`, `the name of an upstream (${names.join(", ")})`);
        }
        if (!PROTOCOL_NAMES.includes(protocol)) {
          this.#fault(`models[${index}].protocol`, `one of ${PROTOCOL_NAMES.join(", ")}`);
        }
        if (tools === "prompt" && !canPrompt(protocol)) {
          this.#fault(
            `models[${index}].protocol`,
            "another protocol, because tools is prompt and calls are text",
          );
        }
        if (reasoning === "prefilled" && protocol === "native") {
          this.#fault(`models[${index}].reasoning`, "tagged, because with protocol: native no text is read");
        }
        return {
          match,
          upstream,
          protocol,
          reasoning,
          tools: tools ?? (isPromptOnly(protocol) ? "prompt" : "native"),
        };
      },
    );
  }

  #unique(values: readonly string[], list: string, member: string): void {
    values.forEach((value, index) => {
      const first = values.indexOf(value);
      if (first !== index)
        this.#fault(`${list}[${index}].${member}`, `another ${member} than ${list}[${first}] has`);
    });
  }

  #fault(path: string, expected: string, file = this.#file): void {
    this.faults.push({ file, path, expected });
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
