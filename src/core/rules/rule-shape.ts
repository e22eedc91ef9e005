import type { SchemaObject } from "ajv";
import { MAX_EXPRESSION } from "./cel-environment.ts";

const text = (maxLength: number): SchemaObject => ({ type: "string", minLength: 1, maxLength });

const expression = text(MAX_EXPRESSION);

const MESSAGE: SchemaObject = {
  type: ["string", "object"],
  minLength: 1,
  maxLength: 500,
  minProperties: 1,
  additionalProperties: false,
  properties: { en: text(500), zh: text(500) },
};

const PRECONDITION: SchemaObject = {
  type: "object",
  additionalProperties: false,
  required: ["check"],
  properties: { name: text(64), check: expression, message: MESSAGE },
};

const RULE: SchemaObject = {
  type: "object",
  additionalProperties: false,
  properties: {
    name: text(64),
    when: expression,
    check: expression,
    message: MESSAGE,
    url: text(4_096),
    headers: {
      type: "object",
      maxProperties: 32,
      additionalProperties: { type: "string", maxLength: 4_096 },
    },
    timeout_ms: { type: "integer", minimum: 1, maximum: 10_000 },
  },
};

const parameters: SchemaObject = { type: "array", maxItems: 64, items: text(256) };

/** The form of the members of a tool definition that make its rules. */
export const RULE_SHAPES: Readonly<Record<string, SchemaObject>> = {
  normalize: {
    type: "object",
    maxProperties: 64,
    additionalProperties: {
      type: "array",
      minItems: 1,
      maxItems: 8,
      items: { type: ["string", "object"] },
    },
  },
  defaults: { type: "object", maxProperties: 64 },
  rules: { type: "array", maxItems: 32, items: RULE },
  requires: { type: "array", maxItems: 16, items: PRECONDITION },
  sets: {
    type: "object",
    maxProperties: 32,
    propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]{0,63}$" },
    additionalProperties: expression,
  },
  guard: {
    type: "object",
    additionalProperties: false,
    minProperties: 1,
    properties: { allow: text(500), except: parameters, paths: parameters },
  },
};
