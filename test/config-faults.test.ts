import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { loadConfig } from "../src/config.ts";
import { ConfigError, formatFaults } from "../src/config-faults.ts";
import { PROTOCOL_NAMES } from "../src/core/protocol/text/text-protocol.ts";

type Env = Record<string, string>;

function faults(text: string, env: Env = {}): readonly string[] {
  try {
    loadConfig(env, () => text);
  } catch (error) {
    if (error instanceof ConfigError) return formatFaults(error.faults).split("\n");
    throw error;
  }
  return [];
}

const FILE = "config/toolweir.yaml";
const PUBLIC = { TOOLWEIR_HOST: "0.0.0.0" };
const SECRET = "sk-very-secret";

const KEY_WORDS = "the key as text of printable ASCII without blanks (in quotes if it has digits only)";

/** What the file says, and the whole line that must come of it. */
const ONE_FAULT: [text: string, line: string, env?: Env][] = [
  ["limits: { round: 3 }", "limits.round: expected a known setting; did you mean rounds?"],
  ["upstream: []", "upstream: expected a known setting; did you mean upstreams?"],
  ["keepalive: { zebra: 1 }", "keepalive.zebra: expected a known setting (every_ms, as)"],
  ["limits: { rounds: 0 }", "limits.rounds: expected a whole number from 1 to 1000"],
  [
    "limits: { run_cost_micros: 5 }\nprices: [{ match: a, input_per_million: 1, output_per_million: 2 }]",
    'prices: expected a price for "*" at the end, because there is a bound on cost',
  ],
  [
    "auth: { keys: [{ name: a, key: b, budget: { cost_micros_per_day: 1 } }] }",
    'prices: expected a price for "*" at the end, because there is a bound on cost',
  ],
  [
    "prices: [{ match: a, input_per_million: 0.0000001, output_per_million: 2 }]",
    "prices[0].input_per_million: expected a number with at most 6 decimals",
  ],
  [
    "prices: [{ match: a, input_per_million: -1, output_per_million: 2 }]",
    "prices[0].input_per_million: expected a number from 0 to 1000000 with at most 6 decimals",
  ],
  ["limits: { rounds: 1.5 }", "limits.rounds: expected a whole number from 1 to 1000"],
  ["port: 65536", "port: expected a whole number from 0 to 65535"],
  ["port: true", "port: expected a whole number from 0 to 65535"],
  ["admin_key: 12345", `admin_key: expected ${KEY_WORDS}`],
  ["admin_key: a b", `admin_key: expected ${KEY_WORDS}`],
  ["admin_key: ' '", `admin_key: expected ${KEY_WORDS}`],
  ["admin_key: schlüssel", `admin_key: expected ${KEY_WORDS}`],
  ["auth: { keys: [{ name: a, key: 'a ' }] }", `auth.keys[0].key: expected ${KEY_WORDS}`],
  ["limits: &x { rounds: 3, tools: *x }", "limits.tools: expected no alias that leads back to itself"],
  ["&all\nmodels: [*all]", "models[0]: expected no alias that leads back to itself"],
  ["locale: de", "locale: expected one of en, zh"],
  ["repair: on", "repair: expected one of safe, off"],
  ["keepalive: { as: ping }", "keepalive.as: expected one of comment, chunk, off"],
  ["store: postgres://x", "store: expected sqlite:FILE, memory: or redis://HOST:PORT/DB"],
  ["upstreams: []", "upstreams: expected a list of at least one upstream"],
  ["upstreams: [{}]", "upstreams[0].name: expected a name for this upstream"],
  [
    "upstreams: [{ name: a }, { name: b }]",
    "upstreams[1].base_url: expected an http or https URL without user, query or fragment, for example https://api.openai.com/v1",
  ],
  [
    "upstreams: [{ name: a, fallback: [b] }]",
    "upstreams[0].fallback[0]: expected the name of another upstream (there is none)",
  ],
  [
    "upstreams: [{ name: a, fallback: [a] }]",
    "upstreams[0].fallback[0]: expected the name of another upstream (there is none)",
  ],
  [
    "upstreams: [{ name: a }, { name: a, base_url: http://x.example }]",
    "upstreams[1].name: expected another name than upstreams[0] has",
  ],
  ["models: [{ match: q, upstream: z }]", "models[0].upstream: expected the name of an upstream (main)"],
  ["models: [{ upstream: main }]", 'models[0].match: expected a model name, "*" stands for anything'],
  [
    "models: [{ match: q, protocol: xml }]",
    `models[0].protocol: expected one of ${PROTOCOL_NAMES.join(", ")}`,
  ],
  ["models: [{ match: q, tools: text }]", "models[0].tools: expected one of native, prompt"],
  [
    "models: [{ match: q, tools: prompt }]",
    "models[0].protocol: expected another protocol, because tools is prompt and calls are text",
  ],
  [
    "models: [{ match: q, reasoning: prefilled }]",
    "models[0].reasoning: expected tagged, because with protocol: native no text is read",
  ],
  [
    "auth: { keys: [{ name: a, key: k }, { name: a, key: l }] }",
    "auth.keys[1].name: expected another name than auth.keys[0] has",
  ],
  [
    "auth: { keys: [{ name: a, key: k }, { name: b, key: k }] }",
    "auth.keys[1].key: expected another key than auth.keys[0] has",
  ],
  [
    "admin_key: k\nauth: { keys: [{ name: a, key: k }] }",
    "auth.keys[0].key: expected another key than the admin key",
  ],
  [
    "auth: { mode: keys }",
    "auth.keys: expected at least one client key, or auth.mode: none, because auth.mode is keys",
  ],
  [`host: \${NOPE}`, "host: expected the environment variable NOPE to be set"],
  [
    `auth: { keys: [{ name: a, key: '\${APP}' }] }`,
    "auth.keys[0].key: expected the environment variable APP to be set",
  ],
  [`host: '\${A:-b}'`, `host: expected \${NAME} with the name of an environment variable, not \${A:-b}`],
  [`host: '\${A'`, `host: expected \${NAME} with the name of an environment variable, not \${A`],
  ["port: 1\nport: 2", "line 2, column 1: expected YAML (Map keys must be unique)"],
  ["admin_key: *nobody", "the file: expected YAML with fewer or no aliases"],
  [
    "",
    "admin_key: expected an admin key (TOOLWEIR_ADMIN_KEY), because the host is not a loopback address",
    { ...PUBLIC, TOOLWEIR_CONFIG: FILE },
  ],
];

suite("a fault is one line with file, path and what was expected", () => {
  for (const [text, line, env] of ONE_FAULT) {
    test(line, () => {
      const lines = faults(text, env);
      assert.equal(lines[0], `${FILE}: ${line}`);
      assert.equal(lines.length, env ? 2 : 1);
    });
  }

  test("in a file that is not a group of settings", () => {
    for (const text of ["- port: 1", "port", "3"])
      assert.match(faults(text)[0] ?? "", /: the file: expected a group/);
  });

  test("in a variable, which is named instead of the file", () => {
    const text = "upstreams: [{ name: a }]";
    assert.match(
      faults(text, { TOOLWEIR_PORT: "99999" })[0] ?? "",
      /^environment: TOOLWEIR_PORT: expected a whole/,
    );
    assert.match(
      faults(text, { TOOLWEIR_LOG_LEVEL: "loud" })[0] ?? "",
      /^environment: TOOLWEIR_LOG_LEVEL: .*fatal/,
    );
    assert.match(
      faults(text, { TOOLWEIR_STORE: "mysql:" })[0] ?? "",
      /^environment: TOOLWEIR_STORE: .*sqlite:FILE/,
    );
    for (const name of ["TOOLWEIR_UPSTREAM_URL", "OPENAI_BASE_URL"]) {
      for (const url of [
        "ftp://x.example",
        "x.example/v1",
        "http://u:p@x.example",
        "http://x.example/?a=b",
      ]) {
        assert.match(
          faults(text, { [name]: url })[0] ?? "",
          new RegExp(`^environment: ${name}: expected an http`),
          url,
        );
      }
    }
  });
});

suite("ConfigError", () => {
  test("lists all faults, not only the first", () => {
    assert.equal(faults("limits: { rounds: 0, run_ms: x }\nlocale: de\nfoo: 1").length, 4);
    assert.equal(faults(`host: \${A}\nstore: \${B}`).length, 2);
  });

  test("never shows a value of the file", () => {
    const text = `admin_key: [${SECRET}]\nauth: { keys: [{ name: a, key: { ${SECRET}: 1 } }] }\nlocale: ${SECRET}`;
    assert.ok(faults(text).length >= 3);
    assert.ok(!faults(text).join("\n").includes(SECRET));
  });

  test("a hostile nest of aliases is refused, not expanded", () => {
    const rows = Array.from({ length: 30 }, (_, i) => `k${i + 1}: &k${i + 1} [*k${i}, *k${i}, *k${i}]`);
    assert.match(faults(["k0: &k0 [x]", ...rows].join("\n"))[0] ?? "", /fewer or no aliases/);
  });
});

suite("the file itself", () => {
  const unreadable = (code: string) => () => {
    throw Object.assign(new Error(code), { code });
  };

  test("a named one that is missing ends the start", () => {
    assert.throws(() => loadConfig({ TOOLWEIR_CONFIG: "/etc/none.yaml" }, unreadable("ENOENT")), {
      name: "ConfigError",
      message: "/etc/none.yaml: the file: expected to be readable (TOOLWEIR_CONFIG names it, ENOENT)",
    });
  });

  test("a default one that is there but cannot be read ends the start", () => {
    assert.throws(() => loadConfig({}, unreadable("EACCES")), /toolweir\.yaml: the file: expected .*EACCES/);
  });
});

suite("on an address that others can reach", () => {
  const KEYS = "auth: { keys: [{ name: a, key: k }] }";

  test("an admin key, and client keys or auth.mode none, are required", () => {
    assert.equal(faults("", PUBLIC).length, 2);
    assert.match(faults("admin_key: x", PUBLIC)[0] ?? "", /auth\.keys: expected at least one client key/);
    assert.match(
      faults("admin_key: x\nauth: { mode: keys }", PUBLIC)[0] ?? "",
      /auth\.keys: expected at least one/,
    );
    assert.match(faults(KEYS, PUBLIC)[0] ?? "", /admin_key: expected an admin key/);
    assert.match(faults("auth: { mode: none }", PUBLIC)[0] ?? "", /admin_key: expected an admin key/);
  });

  test("with both it starts", () => {
    assert.deepEqual(faults(`admin_key: x\n${KEYS}`, PUBLIC), []);
    assert.deepEqual(faults("auth: { mode: none }", { ...PUBLIC, TOOLWEIR_ADMIN_KEY: "x" }), []);
  });
});
