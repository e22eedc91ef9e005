import { type CelNode, calledName, childNodes, repeated } from "./cel-node.ts";

/** What rules may call. Everything else of the library has no use here, or no bound. */
const FUNCTIONS: ReadonlySet<string> = new Set(
  (
    "size int double string bool timestamp duration date sum has all exists exists_one map filter " +
    "contains startsWith endsWith matches lowerAscii upperAscii trim indexOf lastIndexOf substring split " +
    "getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear getHours getMinutes getSeconds getMilliseconds"
  ).split(" "),
);

/** Loops inside each other. */
const MAX_LOOPS = 2;

/** Members that no data has and that a JavaScript object might. */
const NOT_DATA: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** What the variables of a rule hold, as far as it is known; `undefined` for anything. */
export type KnownMembers = ReadonlyMap<string, ReadonlySet<string> | undefined>;

/** A place in an expression that cannot be accepted. */
export interface CelFault {
  /** Characters before it. */
  readonly at: number;
  readonly message: string;
}

/** What an expression does that a rule may not do, or that can never work. */
export function celFaults(root: CelNode, known: KnownMembers): CelFault[] {
  const faults: CelFault[] = [];
  walk(root, 0, (node, loops) => {
    const message = callFault(node) ?? memberFault(node, known) ?? loopFault(node, loops);
    if (message !== undefined) faults.push({ at: node.start, message });
  });
  return faults;
}

/** The patterns of every `matches`, all of them literal once `celFaults` has found nothing. */
export function patternsIn(root: CelNode): string[] {
  const patterns: string[] = [];
  walk(root, 0, (node) => {
    const pattern = literalPattern(node);
    if (pattern !== undefined) patterns.push(pattern);
  });
  return patterns;
}

/** The names of the arguments that an expression reads, and those that it asks for with `has` first. */
export function argumentsIn(root: CelNode): { read: Set<string>; asked: Set<string> } {
  const read = new Set<string>();
  const asked = new Set<string>();
  walk(root, 0, (node) => {
    const { variable, member } = memberOf(node);
    if (variable === "args" && member !== undefined) read.add(member);
    if (calledName(node) !== "has") return;
    const [operand] = (node.args as [string, CelNode[]])[1];
    const inHas = operand && memberOf(operand);
    if (inHas?.variable === "args" && inHas.member !== undefined) asked.add(inHas.member);
  });
  return { read, asked };
}

function walk(node: CelNode, loops: number, visit: (node: CelNode, loops: number) => void): void {
  visit(node, loops);
  const step = repeated(node);
  for (const child of childNodes(node)) walk(child, child === step ? loops + 1 : loops, visit);
}

function callFault(node: CelNode): string | undefined {
  const name = calledName(node);
  if (name === undefined) return undefined;
  if (!FUNCTIONS.has(name)) return `${name}() cannot be used in a rule`;
  return name === "matches" && literalPattern(node) === undefined
    ? "matches() needs its pattern as one string literal"
    : undefined;
}

function literalPattern(node: CelNode): string | undefined {
  if (node.op !== "rcall" || calledName(node) !== "matches") return undefined;
  const [pattern] = (node.args as [string, CelNode, CelNode[]])[2];
  return pattern?.op === "value" && typeof pattern.args === "string" ? pattern.args : undefined;
}

function memberFault(node: CelNode, known: KnownMembers): string | undefined {
  const { variable, member } = memberOf(node);
  if (member === undefined) return undefined;
  if (NOT_DATA.has(member)) return `there is no member "${member}"`;
  const members = variable === undefined ? undefined : known.get(variable);
  if (!members || members.has(member)) return undefined;
  return variable === "args"
    ? `"${member}" is not a property in "parameters"`
    : `"${variable}" has no member "${member}"; it has ${[...members].join(" and ")}`;
}

/** `args.city` and `args["city"]`: the variable, if it is one, and the member, if it is known. */
function memberOf({ op, args }: CelNode): { variable?: string; member?: string } {
  if (op !== "." && op !== "[]") return {};
  const [object, index] = args as [CelNode, string | CelNode];
  const member = typeof index === "string" ? index : index.args;
  return {
    ...(object.op === "id" && { variable: object.args as string }),
    ...(typeof member === "string" && (typeof index === "string" || index.op === "value") && { member }),
  };
}

const loopFault = (node: CelNode, loops: number): string | undefined =>
  node.op === "comprehension" && loops >= MAX_LOOPS
    ? `more than ${MAX_LOOPS} loops inside each other`
    : undefined;
