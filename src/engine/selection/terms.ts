/** Characters of a text that are looked at: what a question is about stands at its beginning or its end. */
const MAX_TEXT = 4_000;
const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts that are written without spaces between words, and Korean, whose words carry what belongs to them at their end. */
const UNSPACED =
  /[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
const LATIN = /^[a-z]+$/;

/**
 * The terms of a text for a full-text search: words in lower case without accents, names taken apart at `_`, `-` and capitals, two
 * neighbouring characters at a time where a script has no spaces and in Korean. Time is linear and bounded.
 */
export function termsOf(text: string): string[] {
  const shortened =
    text.length > MAX_TEXT
      ? `${text.slice(0, MAX_TEXT / 2)} ${text.slice(-MAX_TEXT / 2)}`.toWellFormed()
      : text;
  const apart = shortened.replace(/(\p{Ll}|\p{N})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1$2 ");
  const plain = apart
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .normalize("NFC")
    .toLowerCase();
  return (plain.match(WORD) ?? []).flatMap((word) =>
    UNSPACED.test(reset(word)) ? pairs(word) : [stem(word)],
  );
}

function reset(word: string): string {
  UNSPACED.lastIndex = 0;
  return word;
}

/** Runs of unspaced scripts as pairs, what stands between them as words. */
function pairs(word: string): string[] {
  const runs = word.match(UNSPACED) ?? [];
  const others = word.split(UNSPACED).filter((part) => part !== "");
  const twos = runs.flatMap((run) => {
    const characters = [...run];
    if (characters.length < 2) return characters;
    return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
  });
  return [...twos, ...others.map(stem)];
}

const ENDINGS: readonly [ending: string, instead: string, shortest: number][] = [
  ["ies", "y", 5],
  ["sses", "ss", 5],
  ["ing", "", 6],
  ["ed", "", 5],
  ["ers", "", 6],
  ["er", "", 5],
  ["ations", "", 8],
  ["ation", "", 7],
  ["ions", "", 7],
  ["ion", "", 6],
  ["es", "", 5],
  ["s", "", 4],
  ["ly", "", 5],
];

/** Forms of one English word as one term, roughly: what matters is that both sides are treated alike. */
function stem(word: string): string {
  if (!LATIN.test(word)) return word;
  let stemmed = word;
  for (const [ending, instead, shortest] of ENDINGS) {
    if (
      stemmed.length >= shortest &&
      stemmed.endsWith(ending) &&
      !(ending === "s" && stemmed.endsWith("ss"))
    ) {
      stemmed = stemmed.slice(0, -ending.length) + instead;
      break;
    }
  }
  if (stemmed.length > 4 && stemmed.endsWith("e")) stemmed = stemmed.slice(0, -1);
  // "planning" and "plan"
  return stemmed.length > 3 && stemmed.at(-1) === stemmed.at(-2) && !/[lsz]$/.test(stemmed)
    ? stemmed.slice(0, -1)
    : stemmed;
}

const STOP_WORDS =
  "the a an of to in for and or is are be with on at by from that this it as i you me my your we our can could would please " +
  "what which how do does s t need want like given using use will there have has not if any all its also about into than " +
  "then when where who their them they was were been am";

/** Terms that say nothing about what a question is about. */
export const STOP_TERMS: ReadonlySet<string> = new Set(STOP_WORDS.split(" ").flatMap(termsOf));
