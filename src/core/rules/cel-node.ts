import type { ASTNode } from "@marcbachmann/cel-js";

/**
 * A node of a parsed expression as cel-js runs it. `op`, `args` and the range are its public form; `handle` and `meta` are what
 * version 8.0.0, which is pinned, puts beside them, and tests hold them to it.
 */
export interface CelNode {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly meta: {
    /** What a macro such as `all` was expanded to; it runs in place of the node. */
    readonly alternate?: CelNode;
    /** A macro that runs by itself: `has`. */
    readonly macro?: object;
  };
  /** Set by the type check on every node with work of its own; gets the evaluated operands first. */
  handle?: (...operands: unknown[]) => unknown;
  readonly checkedType?: { readonly kind: string; readonly name: string };
}

/** A loop over a list, or the keys of a map. */
interface Comprehension {
  readonly iterable: CelNode;
  readonly init: CelNode;
  readonly step: CelNode;
}

/** The node behind the public type. */
export function celNode(node: ASTNode): CelNode {
  return node as unknown as CelNode;
}

/** The name of the function or method that a node calls. */
export function calledName({ op, args }: CelNode): string | undefined {
  return op === "call" || op === "rcall" ? (args as [string])[0] : undefined;
}

/** The nodes that run for a node, macros expanded; those that a comprehension repeats come last. */
export function childNodes(node: CelNode): readonly CelNode[] {
  const { op, args, meta } = node;
  if (meta.alternate) return [meta.alternate];
  switch (op) {
    case "value":
    case "id":
    case "accuValue":
    case "accuInc":
      return [];
    case ".":
      return [(args as [CelNode])[0]];
    case "call":
      return (args as [string, CelNode[]])[1];
    case "rcall": {
      const [, receiver, operands] = args as [string, CelNode, CelNode[]];
      return [receiver, ...operands];
    }
    case "map":
      return (args as [CelNode, CelNode][]).flat();
    case "comprehension": {
      const { iterable, init, step } = args as Comprehension;
      return [iterable, init, step];
    }
    default:
      return Array.isArray(args) ? (args as CelNode[]) : [args as CelNode];
  }
}

/** What a comprehension repeats. */
export function repeated(node: CelNode): CelNode | undefined {
  return node.op === "comprehension" ? (node.args as Comprehension).step : undefined;
}
