import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/config.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { ROOT, readText } from "./markdown.ts";

const FOLDER = "deploy/kubernetes/";

interface Probe {
  httpGet: { path: string; port: string };
}

interface Container {
  ports: { name: string; containerPort: number }[];
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  lifecycle: { preStop: { exec: { command: [string, string] } } };
  securityContext: Record<string, unknown>;
}

interface PodSpec {
  enableServiceLinks: boolean;
  terminationGracePeriodSeconds: number;
  containers: [Container];
}

/** The manifest of this kind; each stands once. */
function manifest<T>(file: string, kind: string): T {
  const all = parseAllDocuments(readText(FOLDER + file)).map(
    (document) => document.toJS() as { kind: string },
  );
  const found = all.filter((candidate) => candidate.kind === kind);
  assert.equal(found.length, 1, `${kind} in ${file}`);
  return found[0] as T;
}

/** Why manifests cannot be validated here, for `skip`. Continuous integration must be able to. */
function noValidator(): string | false {
  try {
    execFileSync("kubernetes-validate", ["--version"], { stdio: "pipe" });
    return false;
  } catch {
    if (process.env["CI"]) throw new Error("kubernetes-validate is missing");
    return "kubernetes-validate is not installed (pip install kubernetes-validate)";
  }
}

const { resources } = parse(readText(`${FOLDER}kustomization.yaml`)) as { resources: string[] };
const deployment = manifest<{ spec: { template: { spec: PodSpec } } }>("gateway.yaml", "Deployment");
const pod = deployment.spec.template.spec;
const [gateway] = pod.containers;

describe("deploy/kubernetes", () => {
  test("holds what Kubernetes takes, and no unknown member", { skip: noValidator() }, () => {
    const cwd = fileURLToPath(new URL(FOLDER, ROOT));
    const said = execFileSync("kubernetes-validate", ["--strict", ...resources], { cwd, encoding: "utf8" });
    assert.doesNotMatch(said, /fail|error/i);
  });

  test("asks the gateway's own routes whether it lives and whether it is ready", () => {
    const [port] = gateway.ports;
    assert.equal(port?.containerPort, 8787);
    for (const [probe, path] of [
      [gateway.startupProbe, "/healthz"],
      [gateway.livenessProbe, "/healthz"],
      [gateway.readinessProbe, "/readyz"],
    ] as const) {
      assert.deepEqual(probe.httpGet, { path, port: port.name });
    }
  });

  test("leaves the gateway the time that it takes to end", () => {
    const pause = Number(gateway.lifecycle.preStop.exec.command[1]);
    assert.ok(pause > 0 && pod.terminationGracePeriodSeconds >= 45 + pause);
  });

  test("gives settings that a gateway starts with", () => {
    assert.equal(pod.enableServiceLinks, false, "a service named toolweir sets TOOLWEIR_PORT");
    const store = "redis://redis:6379/0";
    const given = gateway.env.map(({ name, value }) => [
      name,
      value ?? (name === "TOOLWEIR_STORE" ? store : name),
    ]);
    const env = { ...Object.fromEntries(given), TOOLWEIR_HOST: "0.0.0.0" } as Record<string, string>;
    const config = loadConfig(env, () => readText(`${FOLDER}toolweir.yaml`));
    assert.equal(config.store, store);
    assert.deepEqual(
      config.auth.keys.map(({ key }) => key),
      ["TOOLWEIR_CLIENT_KEY"],
    );
    assert.equal(config.tools.network, "guarded");
  });

  test("scales by a series that the gateway has", async () => {
    const { spec } = manifest<{ spec: { metrics: { pods?: { metric: { name: string } } }[] } }>(
      "scaling.yaml",
      "HorizontalPodAutoscaler",
    );
    const names = spec.metrics.flatMap(({ pods }) => (pods ? [pods.metric.name] : []));
    assert.deepEqual(names, ["toolweir_open_runs"]);
    assert.match(await createMetrics(() => true).render(), /^# TYPE toolweir_open_runs gauge$/m);
  });

  test("is watched with a key that may, under the name that the alerts know", () => {
    const { spec } = manifest<{
      spec: {
        endpoints: [{ path: string; authorization: unknown; relabelings: unknown[] }];
        selector: { matchLabels: object };
      };
    }>("monitoring.yaml", "ServiceMonitor");
    const service = manifest<{ metadata: { labels: object } }>("gateway.yaml", "Service");
    assert.deepEqual(spec.selector.matchLabels, service.metadata.labels);
    const [endpoint] = spec.endpoints;
    assert.equal(endpoint.path, "/metrics");
    assert.deepEqual(endpoint.authorization, { credentials: { name: "toolweir", key: "client-key" } });
    assert.deepEqual(endpoint.relabelings, [{ targetLabel: "job", replacement: "toolweir" }]);
    assert.match(readText("deploy/observability/alerts.yml"), /up\{job="toolweir"\}/);
  });
});
