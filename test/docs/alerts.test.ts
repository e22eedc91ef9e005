import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { ROOT, readText } from "./markdown.ts";

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

const FOLDER = "deploy/observability/";
const { groups } = parse(readText(`${FOLDER}alerts.yml`)) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** Why `promtool` cannot be asked here, for `skip`. Continuous integration must have it. */
function noPromtool(): string | false {
  try {
    execFileSync("promtool", ["--version"], { stdio: "pipe" });
    return false;
  } catch {
    if (process.env["CI"]) throw new Error("promtool is missing");
    return "promtool is not installed (apt-get install prometheus)";
  }
}

const promtool = (...args: string[]): string =>
  execFileSync("promtool", args, {
    cwd: fileURLToPath(new URL(FOLDER, ROOT)),
    encoding: "utf8",
    stdio: "pipe",
  });

describe("alerts.yml", () => {
  const skip = noPromtool();

  test("holds rules that Prometheus takes", { skip }, () => {
    assert.match(
      promtool("check", "rules", "alerts.yml"),
      new RegExp(`SUCCESS: ${rules.length} rules found`),
    );
  });

  test("raises each alert when it should, and none on a day like any other", { skip }, () => {
    assert.match(promtool("test", "rules", "alerts.test.yml"), /SUCCESS/);
    const cases = readText(`${FOLDER}alerts.test.yml`);
    for (const { alert } of rules) assert.match(cases, new RegExp(`\\b${alert}\\b`));
  });

  test("asks only for series that the gateway or Prometheus itself has", async () => {
    const exposed = await createMetrics(() => true).render();
    const names = new Set([...exposed.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name]) => name));
    for (const { alert, expr } of rules) {
      const asked = expr.match(/\b(?:toolweir|nodejs|process)_\w+/g) ?? [];
      for (const name of asked) assert.ok(names.has(name.replace(/_bucket$/, "")), `${alert}: ${name}`);
      assert.ok(asked.length > 0 || expr.startsWith("up{"), alert);
    }
  });

  test("says for each how urgent it is, and what to do", () => {
    const sections = readText("docs/operations.md").split(/^### /m);
    assert.equal(sections.length - 1, rules.length);
    for (const { alert, labels, annotations } of rules) {
      assert.match(labels.severity, /^(?:page|ticket)$/);
      assert.equal(annotations.runbook, `docs/operations.md#${alert.toLowerCase()}`);
      const text = sections.find((section) => section.startsWith(`${alert}\n`));
      assert.ok(text && text.length > alert.length + 100, alert);
    }
  });

  test("reaches the Prometheus of the compose file", () => {
    const config = parse(readText(`${FOLDER}prometheus.yml`)) as { rule_files: string[] };
    assert.deepEqual(config.rule_files, ["/etc/prometheus/alerts.yml"]);
    const compose = readText("docker-compose.yml");
    assert.match(compose, /\.\/deploy\/observability\/alerts\.yml:\/etc\/prometheus\/alerts\.yml:ro/);
  });
});
