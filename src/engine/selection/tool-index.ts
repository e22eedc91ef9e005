import { setImmediate as nextTurn } from "node:timers/promises";
import MiniSearch from "minisearch";
import { isObject, type JsonObject } from "../../core/json/value.ts";
import type { RegisteredTool, ToolSnapshot } from "../registry/tool-snapshot.ts";
import { STOP_TERMS, termsOf } from "./terms.ts";

/** Tools that are taken into the index before others get a turn: some milliseconds. */
const SLICE = 50;
/** Depth and characters of the parameters that are looked at. */
const MAX_DEPTH = 3;
const MAX_PARAMETERS = 4_000;
/** Different terms of a text that are looked for. */
const MAX_QUERY_TERMS = 150;

/** How much a term counts by where it stands. */
const BOOST = { name: 2, description: 1.5, keywords: 2, parameters: 0.7 };
/** Saturation and length normalisation of BM25, and the least that a match is worth (BM25+). */
const BM25 = { k: 1.2, b: 0.7, d: 0.5 };

interface Entry {
  name: string;
  description: string;
  keywords: string;
  parameters: string;
}

/**
 * A full-text index over the registered tools: what they are called, what they say of themselves, their keywords, tags and
 * parameters, in any language.
 */
export class ToolIndex {
  readonly #search = new MiniSearch<Entry>({
    idField: "name",
    fields: Object.keys(BOOST),
    tokenize: termsOf,
    processTerm: (term) => (STOP_TERMS.has(term) ? null : term),
    searchOptions: { boost: BOOST, bm25: BM25 },
  });
  readonly #known = new Map<string, RegisteredTool>();
  #revision = -1;
  #updating: Promise<void> = Promise.resolve();

  /** Takes in what has changed since the snapshot before; a newer one that is known already stays. */
  update(snapshot: ToolSnapshot): Promise<void> {
    if (snapshot.revision <= this.#revision) return this.#updating;
    this.#revision = snapshot.revision;
    this.#updating = this.#updating.then(() => this.#take(snapshot));
    return this.#updating;
  }

  /** Names of tools that have to do with a text, with a score each; the order says nothing. */
  find(text: string): ReadonlyMap<string, number> {
    return new Map(
      this.#search.search(text, { tokenize: queryTerms }).map(({ id, score }) => [String(id), score]),
    );
  }

  async #take(snapshot: ToolSnapshot): Promise<void> {
    const gone = [...this.#known.keys()].filter((name) => !snapshot.get(name));
    for (const name of gone) this.#forget(name);
    const changed = snapshot.list().filter((tool) => this.#known.get(tool.definition.name) !== tool);
    for (const [at, tool] of changed.entries()) {
      if (at % SLICE === SLICE - 1) await nextTurn();
      this.#forget(tool.definition.name);
      this.#known.set(tool.definition.name, tool);
      this.#search.add(toEntry(tool));
    }
  }

  #forget(name: string): void {
    if (this.#known.delete(name)) this.#search.discard(name);
  }
}

/** A term counts once, however often it is said. */
function queryTerms(text: string): string[] {
  return [...new Set(termsOf(text))].slice(0, MAX_QUERY_TERMS);
}

function toEntry({ definition }: RegisteredTool): Entry {
  const { name, description, keywords, tags, parameters } = definition;
  const said = parameters ? parameterTexts(parameters, MAX_DEPTH).join(" ") : "";
  return {
    name,
    description,
    keywords: [...keywords, ...tags].join(" "),
    parameters: said.slice(0, MAX_PARAMETERS),
  };
}

/** Names, descriptions and values of parameters. */
function parameterTexts(schema: JsonObject, depth: number): string[] {
  if (depth === 0) return [];
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isObject(property)) return [name];
    const { description, items } = property;
    const values = Array.isArray(property["enum"])
      ? property["enum"].filter((one) => typeof one === "string")
      : [];
    const inner = [property, items].flatMap((one) => (isObject(one) ? parameterTexts(one, depth - 1) : []));
    return [name, ...(typeof description === "string" ? [description] : []), ...values, ...inner];
  });
}
