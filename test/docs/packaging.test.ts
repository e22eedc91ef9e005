import assert from "node:assert/strict";
import { accessSync, constants, existsSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { ROOT, readText } from "./markdown.ts";

interface Service {
  image?: string;
  build?: string;
  init?: boolean;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  privileged?: boolean;
  ports?: string[];
  volumes?: string[];
  healthcheck?: { test: string[] };
  environment?: Record<string, string>;
  stop_grace_period?: string;
  profiles?: string[];
  command?: string[];
}

const readYaml = (path: string): unknown => parse(readText(path), { merge: true });
const compose = readYaml("docker-compose.yml") as { services: Record<string, Service>; name?: string };
const { gateway } = compose.services;

describe("docker-compose.yml", () => {
  for (const [name, service] of Object.entries(compose.services)) {
    test(`${name} cannot write its own files, has no capabilities and cannot gain any`, () => {
      assert.equal(service.read_only, true);
      assert.equal(service.init, true);
      assert.deepEqual(service.cap_drop, ["ALL"]);
      assert.deepEqual(service.security_opt, ["no-new-privileges:true"]);
      assert.notEqual(service.privileged, true);
    });

    test(`${name} is reached from this machine only, and its image has a fixed version`, () => {
      for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:/);
      if (service.build === undefined) assert.match(service.image ?? "", /:v?\d/);
    });

    test(`what ${name} mounts from the repository exists`, () => {
      const paths = (service.volumes ?? []).map((volume) => volume.split(":")[0] ?? "");
      for (const path of paths.filter((source) => source.startsWith("./"))) {
        assert.ok(existsSync(new URL(path, ROOT)), path);
      }
    });
  }

  test("the gateway does not start without keys, and has time to let its streams end", () => {
    for (const name of ["TOOLWEIR_ADMIN_KEY", "TOOLWEIR_CLIENT_KEY", "TOOLWEIR_UPSTREAM_KEY"]) {
      assert.match(gateway?.environment?.[name] ?? "", new RegExp(`^\\$\\{${name}:\\?`));
    }
    assert.equal(gateway?.stop_grace_period, "45s");
    assert.ok(gateway?.healthcheck);
  });

  test("redis is not started unless somebody asks for it, and never throws keys away", () => {
    const { redis } = compose.services;
    assert.deepEqual(redis?.profiles, ["redis"]);
    assert.ok(redis.command?.includes("noeviction"));
  });
});

describe("Dockerfile", () => {
  const stages = readText("Dockerfile").split(/^FROM /m);
  const last = stages.at(-1) ?? "";

  test("the image runs as a user without rights, has a health check and gets signals itself", () => {
    assert.match(last, /^USER node$/m);
    assert.match(last, /^HEALTHCHECK .*\n? *CMD \["node", "-e", /m);
    assert.match(last, /^CMD \["node", "src\/main\.ts"\]$/m);
    assert.ok(last.indexOf("USER node") > last.lastIndexOf("RUN "), "nothing is done as root after USER");
  });

  test("the image holds no build tools and no packages for development", () => {
    assert.equal(stages.length, 3, "two stages");
    assert.match(readText("Dockerfile"), /npm ci --omit=dev --omit=optional --ignore-scripts/);
    assert.doesNotMatch(last, /npm|apt-get/);
  });

  test("everything that is copied is in the build context", () => {
    const allowed = readText(".dockerignore")
      .match(/^!(.+)$/gm)
      ?.map((line) => line.slice(1));
    const copied = [...readText("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)];
    for (const path of copied.flatMap((match) => (match[1] ?? "").split(" "))) {
      assert.ok(allowed?.includes(path), path);
      assert.ok(existsSync(new URL(path, ROOT)), path);
    }
    assert.equal(
      readText(".dockerignore")
        .split("\n")
        .filter((line) => line === "*").length,
      1,
    );
  });
});

/** The series that the gateway has, as its own registry shows them. */
async function seriesNames(): Promise<Set<string>> {
  const text = await createMetrics(() => true).render();
  return new Set([...text.matchAll(/^# TYPE (toolweir_\w+)/gm)].map((match) => match[1] ?? ""));
}

const namesOf = (expr: string) =>
  [...expr.matchAll(/toolweir_\w+/g)].map((match) => match[0].replace(/_(bucket|sum|count)$/, ""));

describe("observability", () => {
  test("Prometheus scrapes the gateway where compose runs it", () => {
    const config = readYaml("deploy/observability/prometheus.yml") as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    assert.deepEqual(config.scrape_configs[0]?.static_configs[0]?.targets, ["gateway:8787"]);
  });

  test("the collector hands traces from the gateway's endpoint to Jaeger", () => {
    const config = readYaml("deploy/observability/otel-collector.yaml") as {
      receivers: { otlp: { protocols: { http: { endpoint: string } } } };
      exporters: Record<string, { endpoint: string }>;
      service: { pipelines: { traces: { receivers: string[]; exporters: string[] } } };
    };
    const port = gateway?.environment?.["OTEL_EXPORTER_OTLP_ENDPOINT"]?.split(":").at(-1);
    assert.match(config.receivers.otlp.protocols.http.endpoint, new RegExp(`:${port}$`));
    const [exporter = ""] = config.service.pipelines.traces.exporters;
    assert.equal(config.exporters[exporter]?.endpoint, "jaeger:4317");
  });

  test("the dashboard asks the data source that is provisioned, and only for series that the gateway has", async () => {
    const { datasources } = readYaml("deploy/observability/grafana/datasources/datasources.yaml") as {
      datasources: { uid: string; type: string }[];
    };
    const dashboard = JSON.parse(readText("deploy/observability/grafana/dashboards/toolweir.json")) as {
      panels: { datasource?: { uid: string }; targets?: { expr: string }[] }[];
    };
    const series = await seriesNames();
    const uids = datasources.map(({ uid }) => uid);
    const panels = dashboard.panels.filter((panel) => panel.targets);
    assert.ok(panels.length >= 8);
    for (const { datasource, targets } of panels) {
      assert.ok(datasource && uids.includes(datasource.uid));
      for (const { expr } of targets ?? [])
        assert.ok(
          namesOf(expr).every((name) => series.has(name)),
          expr,
        );
    }
  });
});

describe(".ci/run", () => {
  const script = readText(".ci/run");

  test("can be executed and runs the tests and every step of `npm run check`", () => {
    accessSync(new URL(".ci/run", ROOT), constants.X_OK);
    const { scripts } = JSON.parse(readText("package.json")) as { scripts: Record<string, string> };
    const steps = [...(scripts["check"] ?? "").matchAll(/npm run --silent (\w+)/g)].map((match) => match[1]);
    assert.ok(steps.length >= 3);
    for (const step of steps) assert.match(script, new RegExp(`^count npm run --silent ${step}$`, "m"));
    assert.match(script, /npm test/);
  });
});
