import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { type ErrorCode, GatewayError } from "../../src/errors.ts";
import { DOCUMENT, type Example, type Operation, operations, type Response, resolve } from "./openapi.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(DOCUMENT, "document");

function assertFits(value: unknown, ref: string, where: string): void {
  const valid = ajv.compile({ $ref: `document${ref}` });
  assert.ok(valid(value), `${where}: ${ajv.errorsText(valid.errors)}`);
}

function refsIn(value: unknown): string[] {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === "$ref" ? [String(member)] : refsIn(member),
  );
}

function examplesOf(content: Record<string, Example> = {}): { ref: string; example: unknown }[] {
  return Object.values(content).flatMap(({ schema, example }) =>
    schema?.$ref !== undefined && example !== undefined ? [{ ref: schema.$ref, example }] : [],
  );
}

const responseOf = (response: Response): Response =>
  response.$ref === undefined ? response : (resolve(response.$ref) as Response);

describe("openapi.yaml", () => {
  test("every reference points to something, and everything that can be referred to is", () => {
    const refs = new Set(refsIn(DOCUMENT));
    for (const ref of refs) assert.ok(resolve(ref));
    for (const [kind, parts] of Object.entries(DOCUMENT.components)) {
      if (kind === "securitySchemes") continue;
      for (const name of Object.keys(parts)) {
        // Only named in prose: the data of a stream's events have no place in OpenAPI 3.1.
        if (name === "ChatCompletionChunk") continue;
        assert.ok(refs.has(`#/components/${kind}/${name}`), `${kind}/${name} is not used`);
      }
    }
  });

  test("every operation has its own id, a summary, and the parameters of its path", () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const { path, operation } of operations()) {
      const parameters = [...(operation.parameters ?? []), ...(DOCUMENT.paths[path]?.parameters ?? [])];
      const names = parameters.map((parameter) => namedIn(parameter, "path"));
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) assert.ok(names.includes(name), `${path}: ${name}`);
      assert.ok("summary" in operation, operation.operationId);
    }
  });

  test("every schema is one", () => {
    for (const name of Object.keys(DOCUMENT.components.schemas)) {
      assert.equal(typeof ajv.compile({ $ref: `document#/components/schemas/${name}` }), "function");
    }
  });

  test("every example fits its schema", () => {
    for (const { operation } of operations()) {
      const body = operation.requestBody;
      const requested = body?.$ref ? (resolve(body.$ref) as Operation["requestBody"]) : body;
      const contents = [
        requested?.content,
        ...Object.values(operation.responses).map((one) => responseOf(one).content),
      ];
      for (const { ref, example } of contents.flatMap(examplesOf))
        assertFits(example, ref, operation.operationId);
    }
  });

  test("every error that is described has a code with this very status and type", () => {
    let seen = 0;
    for (const { operation } of operations()) {
      for (const [status, response] of Object.entries(operation.responses)) {
        for (const { ref, example } of examplesOf(responseOf(response).content)) {
          if (!ref.endsWith("/Error")) continue;
          const { code, type } = (example as { error: { code: ErrorCode; type: string } }).error;
          const error = new GatewayError(code, "");
          assert.equal(String(error.status), status, `${operation.operationId}: ${code}`);
          assert.equal(error.toBody().error.type, type, `${operation.operationId}: ${code}`);
          seen++;
        }
      }
    }
    assert.ok(seen > 50);
  });
});

function namedIn(
  parameter: { $ref?: string; name?: string; in?: string },
  place: string,
): string | undefined {
  const found = parameter.$ref ? (resolve(parameter.$ref) as { name: string; in: string }) : parameter;
  return found.in === place ? found.name : undefined;
}
