import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { loadConfig } from "../src/config.ts";
import type { ConfigError } from "../src/config-faults.ts";

function noFile(): never {
  throw Object.assign(new Error("no such file"), { code: "ENOENT" });
}

const bare = (env: Record<string, string>) => loadConfig(env, noFile);
const load = (text: string, env: Record<string, string> = {}) => loadConfig(env, () => text);

suite("loadConfig", () => {
  test("a missing default file gives the documented defaults", () => {
    assert.deepEqual(bare({}), {
      host: "127.0.0.1",
      port: 8787,
      adminKey: undefined,
      keyPepper: undefined,
      workers: 1,
      store: "sqlite:data/toolweir.db",
      logLevel: "info",
      log_share: 1,
      toolsDir: "config/tools",
      upstreams: [
        {
          name: "main",
          base_url: "https://api.openai.com/v1",
          api_key: undefined,
          timeouts_ms: { connect: 5000, first_byte: 60_000, idle: 30_000 },
          retry: 2,
          fallback: [],
        },
      ],
      models: [],
      limits: {
        rounds: 10,
        tool_calls: 10,
        corrections: 3,
        run_ms: 300_000,
        tools_phase_ms: 30_000,
        parallel_calls: 8,
        concurrent_runs: 2000,
        ...{ queue: 64, queue_ms: 2_000 },
      },
      rates: { keys: {}, key: {}, user: {}, session: {} },
      overload: { loop_delay_ms: 500 },
      runs: { max: 1_000, max_bytes: 67_108_864, content: "full" },
      ledger: { min_acks: 0 },
      budgets: { run: {}, session: {}, key: { day: {}, month: {} }, keys: {} },
      prices: [],
      locale: "en",
      repair: "safe",
      cancel_early: false,
      hints: true,
      cache: { max_bytes: 33_554_432 },
      sessions: { ttl_s: 86_400 },
      results: { ttl_s: 3_600 },
      history: { max_bytes: 1_048_576 },
      selection: { max_tools: 10 },
      keepalive: { every_ms: 15_000, as: "comment" },
      auth: { mode: "none", keys: [] },
      compat: "extended",
      approvals: { ttl_s: 900, mode: "park", hold_s: 120 },
      tools: { network: "open", allow_hosts: [] },
      notices: [],
    });
  });

  test("a file sets what it names and keeps every other default", () => {
    const config = load(
      "limits: { rounds: 4 }\nlocale: zh\nupstreams: [{ name: a, timeouts_ms: { idle: 9 } }]",
    );
    assert.equal(config.limits.rounds, 4);
    assert.equal(config.limits.tool_calls, 10);
    assert.equal(config.locale, "zh");
    assert.deepEqual(config.upstreams[0]?.timeouts_ms, { connect: 5000, first_byte: 60_000, idle: 9 });
  });

  test("an empty group or value is as good as none", () => {
    assert.deepEqual(load("limits:\nauth:\n  keys:\nadmin_key:\n"), bare({}));
  });
});

suite("the place of the file", () => {
  test("TOOLWEIR_CONFIG names the file and with it the folder of the tools", () => {
    const seen: string[] = [];
    const config = loadConfig({ TOOLWEIR_CONFIG: "/etc/gate/main.yaml" }, (path) => {
      seen.push(path);
      return "port: 1";
    });
    assert.deepEqual(seen, ["/etc/gate/main.yaml"]);
    assert.equal(config.port, 1);
    assert.equal(config.toolsDir, "/etc/gate/tools");
  });
});

suite("models", () => {
  test("tools go into the prompt where the protocol lives in prompts alone, unless the file says otherwise", () => {
    const models = [
      "{ match: a, protocol: react }",
      "{ match: b, protocol: react, tools: native }",
      "{ match: c, protocol: hermes }",
      "{ match: d, protocol: auto, tools: prompt }",
      "{ match: e }",
    ];
    assert.deepEqual(
      load(`models: [${models.join(", ")}]`).models.map(({ tools }) => tools),
      ["prompt", "native", "native", "prompt", "native"],
    );
  });
});

suite("the environment", () => {
  test("every variable of the contract wins over the file", () => {
    const file = `host: 127.0.0.9
port: 1
admin_key: of-the-file
store: "memory:"
log_level: error
upstreams:
  - { name: a, base_url: "http://file.example/v1", api_key: of-the-file, retry: 7 }
  - { name: b, base_url: "http://second.example/v1" }`;
    const config = load(file, {
      TOOLWEIR_HOST: "[::1]",
      TOOLWEIR_PORT: "0",
      TOOLWEIR_UPSTREAM_URL: "http://env.example/v1/",
      TOOLWEIR_UPSTREAM_KEY: "of-env",
      TOOLWEIR_ADMIN_KEY: "admin",
      TOOLWEIR_STORE: "redis://localhost:6379/2",
      TOOLWEIR_LOG_LEVEL: "debug",
    });
    const { host, port, adminKey, store, logLevel } = config;
    assert.deepEqual(
      [host, port, adminKey, store, logLevel],
      ["::1", 0, "admin", "redis://localhost:6379/2", "debug"],
    );
    const [first, second] = config.upstreams;
    assert.deepEqual([first?.base_url, first?.api_key, first?.retry], ["http://env.example/v1", "of-env", 7]);
    assert.deepEqual([second?.base_url, second?.api_key], ["http://second.example/v1", undefined]);
  });

  test("an empty variable counts as unset", () => {
    const env = { TOOLWEIR_PORT: "", TOOLWEIR_ADMIN_KEY: "", TOOLWEIR_UPSTREAM_URL: "", OPENAI_BASE_URL: "" };
    assert.deepEqual(bare(env), bare({}));
  });

  test("the result cannot be changed at any depth", () => {
    const config = load("auth: { keys: [{ name: a, key: k }] }");
    assert.throws(() => Object.assign(config, { port: 2 }), TypeError);
    assert.throws(() => Object.assign(config.limits, { rounds: 2 }), TypeError);
    assert.throws(() => Object.assign(config.auth.keys[0] ?? {}, { name: "b" }), TypeError);
  });
});

suite("the first upstream", () => {
  const OPENAI = { OPENAI_BASE_URL: "http://openai.example/v1", OPENAI_API_KEY: "sk-openai" };
  const first = (text: string, env: Record<string, string>) => {
    const upstream = load(text, env).upstreams[0];
    return [upstream?.base_url, upstream?.api_key];
  };

  test("OPENAI_* fill in what nothing else has set", () => {
    assert.deepEqual(first("", OPENAI), ["http://openai.example/v1", "sk-openai"]);
    assert.deepEqual(first("upstreams: [{ name: a, base_url: http://file.example }]", OPENAI), [
      "http://file.example",
      "sk-openai",
    ]);
  });

  test("an api_key in the file, even an empty or unset one, keeps OPENAI_API_KEY away", () => {
    for (const key of ["''", `\${NOT_SET}`]) {
      assert.equal(
        first(`upstreams: [{ name: a, api_key: "${key}" }]`.replace(`"''"`, "''"), OPENAI)[1],
        undefined,
      );
    }
  });

  test("OPENAI_* leave the other upstreams alone", () => {
    const config = load("upstreams: [{ name: a }, { name: b, base_url: http://b.example }]", OPENAI);
    assert.equal(config.upstreams[1]?.api_key, undefined);
  });
});

suite("references to the environment", () => {
  test("stand anywhere in a string, several times, and are not read again", () => {
    const config = load(`admin_key: "a\${X}-\${Y}"`, { X: `\${Y}`, Y: "y" });
    assert.equal(config.adminKey, `a\${Y}-y`);
  });

  test("give a number where one is wanted and text where text is wanted", () => {
    const config = load(`port: \${P}\nadmin_key: \${P}`, { P: "9000" });
    assert.deepEqual([config.port, config.adminKey], [9000, "9000"]);
  });
});

suite("access", () => {
  test("client keys turn the mode to keys, a loopback address without any to none", () => {
    assert.equal(load("auth: { keys: [{ name: a, key: k }] }").auth.mode, "keys");
    assert.equal(load("").auth.mode, "none");
  });

  test("a key may do what writes at most, with every tool, unless it says otherwise", () => {
    assert.deepEqual(load("auth: { keys: [{ name: a, key: k }] }").auth.keys, [
      { name: "a", key: "k", max_level: "write", tools: ["*"], approve: false, role: "client" },
    ]);
  });

  test("an issuer of tokens is somebody to ask for, on any address", () => {
    const oidc = "oidc: { issuer: https://login.example.com, audience: a }";
    const { auth } = load(`host: 0.0.0.0\nadmin_key: x\nauth: { ${oidc} }`);
    assert.deepEqual(auth, {
      mode: "keys",
      keys: [],
      oidc: { issuer: "https://login.example.com", audience: "a", claims: { name: "sub" } },
    });
    assert.equal(load(`auth: { ${oidc} }`).auth.mode, "keys");
  });

  test("an issuer must be reached safely, and cannot be had without being asked for", () => {
    const faultsOf = (members: string) => {
      try {
        load(`auth: { ${members} }`);
      } catch (error) {
        return (error as ConfigError).faults.map(({ path }) => path);
      }
      return [];
    };
    const at = (issuer: string, more = "") => `oidc: { issuer: "${issuer}", audience: a ${more} }`;
    for (const url of ["http://127.0.0.1:1", "http://localhost/realm", "https://login.example.com/"]) {
      assert.deepEqual(faultsOf(at(url)), [], url);
    }
    for (const url of [
      "http://login.example.com",
      "login.example.com",
      "file:///keys",
      "http://127.evil.example",
    ]) {
      assert.deepEqual(faultsOf(at(url)), ["auth.oidc.issuer"], url);
    }
    assert.deepEqual(faultsOf(at("https://a.example", ", jwks_url: http://a.example")), [
      "auth.oidc.jwks_url",
    ]);
    assert.deepEqual(faultsOf(`mode: none, ${at("https://a.example")}`), ["auth.mode"]);
    assert.deepEqual(faultsOf("oidc: { issuer: https://a.example }"), ["auth.oidc.audience"]);
    assert.deepEqual(faultsOf('keys: [{ name: "oidc:ann", key: k }]'), ["auth.keys[0].name"]);
  });

  test("tool addresses are guarded as soon as the gateway listens for others", () => {
    const open = "admin_key: x\nauth: { mode: none }\nhost: ";
    for (const host of ["localhost", "127.0.0.1", "127.9.9.9", '"::1"']) {
      assert.equal(load(open + host).tools.network, "open", host);
    }
    for (const host of ["0.0.0.0", '"::"', "10.0.0.1", "127.example.com", "128.0.0.1"]) {
      assert.equal(load(open + host).tools.network, "guarded", host);
    }
    assert.equal(load(`${open}0.0.0.0\ntools: { network: open }`).tools.network, "open");
  });
});

suite("notices", () => {
  test("name the settings that have no effect", () => {
    const text = "auth: { mode: none, keys: [{ name: a, key: k, rate: { per_minute: 1 } }] }";
    const { auth, notices, rates } = loadConfig({}, () => text);
    assert.deepEqual(notices, ["auth.keys has no effect, because auth.mode is none."]);
    assert.deepEqual(rates.keys, { a: { per_minute: 1 } });
    assert.deepEqual(Object.keys(auth.keys[0] ?? {}), [
      "name",
      "key",
      "max_level",
      "tools",
      "approve",
      "role",
    ]);
  });

  test("are none for a plain configuration", () => {
    assert.deepEqual(loadConfig({}, () => "port: 1").notices, []);
  });
});
