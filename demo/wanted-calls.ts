/** A call that the scripted model wants to make for a question. */
export interface WantedCall {
  name: string;
  /** JSON text of the arguments, at the first try. */
  arguments: string;
  /** Calls of a later step wait until those of an earlier one are answered. */
  step: number;
  /** The user told the model to make it, whether there is such a tool or not. */
  told: boolean;
}

/** Between the parts of a question. The mark in a number has no space behind it, and St. Gallen is one place. */
const BOUNDARY = /(?<!\bSt)[,;.?!](?:\s+and\s+|\s+|$)|\s+and\s+/i;
const WEATHER =
  /\b(?:weather|forecast|temperature|degrees|warm|cold|hot|rain\w*|sun(?:ny|shine)?|snow\w*|wind\w*|cloud\w*)\b/i;
const TRAIN = /\btrains?\b/i;
const MONEY =
  /([€$£¥])?(\d[\d.,]*)\s*([\p{L}€$£¥][\p{L} ]*?)?\s+(?:are|is|to|in|into|as)\s+([\p{L}€$£¥][\p{L} ]*)/u;
const END_OF_PLACE =
  /\s+(?:in|on|at|by|for|to|from|of|with|today|tomorrow|tonight|now|right|this|next|please|like|compared|the)\b/iu;
const NOT_A_PLACE =
  /^(?:what|how|is|are|will|does|do|can|could|would|tell|show|give|get|the|please|it|i|weather|forecast|temperature)$/i;

const CURRENCIES: readonly (readonly [RegExp, string])[] = [
  [/euro|€/i, "EUR"],
  [/franc/i, "CHF"],
  [/dollar|\$/i, "USD"],
  [/pound|sterling|£/i, "GBP"],
  [/yen|¥/i, "JPY"],
];

/**
 * What the scripted model would look up for a question in English: the weather in a place, an amount of money in another
 * currency, a train from one place to another. `Call NAME {…}` asks for exactly that call.
 *
 * Like models that have seen too many other APIs it writes an amount as a string, and gives the time of a train under a name that
 * the tool does not have.
 */
export function wantedCalls(question: string): WantedCall[] {
  const named = namedCall(question);
  if (named) return [named];
  const calls: WantedCall[] = [];
  for (const clause of question.split(BOUNDARY)) {
    const call = train(clause, question) ?? conversion(clause) ?? weather(clause, calls.at(-1));
    if (call) calls.push(call);
  }
  return calls;
}

function namedCall(question: string): WantedCall | undefined {
  const [, name, text] = /\bcall\s+([\w-]+)(?:\s+with)?\s*(\{.*\})/is.exec(question) ?? [];
  if (name === undefined || text === undefined) return undefined;
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return { name, arguments: text, step: 1, told: true };
}

function train(clause: string, question: string): WantedCall | undefined {
  if (!TRAIN.test(clause)) return undefined;
  const there = /\bfrom\s+(.+?)\s+to\s+(.+)$/i.exec(clause);
  const back = /\bto\s+(.+?)\s+from\s+(.+)$/i.exec(clause);
  const from = place(there?.[1] ?? back?.[2]);
  const to = place(there?.[2] ?? back?.[1]);
  if (!from || !to) return undefined;
  const time = /\b(morning|afternoon|evening)\b/i.exec(question)?.[1]?.toLowerCase() ?? "morning";
  return { name: "find_train", arguments: JSON.stringify({ from, to, time }), step: 2, told: false };
}

function conversion(clause: string): WantedCall | undefined {
  const [, symbol, amount, unit, target] = MONEY.exec(clause) ?? [];
  const from = currency(unit ?? symbol);
  const to = currency(target);
  if (!amount || !from || !to) return undefined;
  const args = { amount: amount.replaceAll(",", ""), from, to };
  return { name: "convert_currency", arguments: JSON.stringify(args), step: 1, told: false };
}

function weather(clause: string, before: WantedCall | undefined): WantedCall | undefined {
  const bare = /^\s*(?:in\s+)?(\p{Lu}[\p{L}'.-]+(?: \p{Lu}[\p{L}'-]+)*)\s*$/u.exec(clause)?.[1];
  const city = WEATHER.test(clause) ? cityOf(clause) : before?.name === "get_weather" ? bare : undefined;
  return city
    ? { name: "get_weather", arguments: JSON.stringify({ city }), step: 1, told: false }
    : undefined;
}

function cityOf(clause: string): string | undefined {
  const named = clause.match(/\p{Lu}[\p{L}'-]+/gu)?.filter((word) => !NOT_A_PLACE.test(word)) ?? [];
  const after = (word: string) => place(new RegExp(`\\b${word}\\s+(.+)$`, "i").exec(clause)?.[1]);
  return after("in") ?? (named.join(" ") || after("(?:at|for|of)"));
}

function place(text: string | undefined): string | undefined {
  return (
    text
      ?.split(END_OF_PLACE)[0]
      ?.replace(/[^\p{L}\p{N})]+$/u, "")
      .trim() || undefined
  );
}

function currency(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  return CURRENCIES.find(([pattern]) => pattern.test(text))?.[1] ?? /\b[A-Z]{3}\b/.exec(text)?.[0];
}
