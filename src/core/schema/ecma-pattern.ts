/** What `\s` and `\S` mean in ECMAScript, as the inside of a class; RE2 knows only the ASCII ones. */
const WHITE =
  "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const SOLID =
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}" +
  "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
/** What `.` means in ECMAScript; RE2 excludes only the line feed. */
const DOT = "[^\\n\\r\\x{2028}\\x{2029}]";

/** Long names of Unicode general categories, which RE2 does not know, in lower case without `_`. */
const CATEGORIES: ReadonlyMap<string, string> = new Map(
  [
    "L=letter LC=casedletter Ll=lowercaseletter Lu=uppercaseletter Lt=titlecaseletter Lm=modifierletter Lo=otherletter",
    "M=mark Mn=nonspacingmark Mc=spacingmark Me=enclosingmark N=number Nd=decimalnumber Nd=digit Nl=letternumber",
    "No=othernumber P=punctuation P=punct Pc=connectorpunctuation Pd=dashpunctuation Ps=openpunctuation",
    "Pe=closepunctuation Pi=initialpunctuation Pf=finalpunctuation Po=otherpunctuation S=symbol Sm=mathsymbol",
    "Sc=currencysymbol Sk=modifiersymbol So=othersymbol Z=separator Zs=spaceseparator Zl=lineseparator",
    "Zp=paragraphseparator C=other Cc=control Cf=format Co=privateuse Cn=unassigned",
  ]
    .flatMap((line) => line.split(" "))
    .map((pair) => pair.split("=").toReversed() as [string, string]),
);

/** A pair of surrogate escapes, a property class, an escape, or one character. */
const TOKEN = /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\p\{([^}]*)\}|\\.|./gisu;

/**
 * Spells a regular expression of ECMAScript (with the `u` flag, as JSON Schema recommends) so that RE2 gives it the same
 * meaning. It looks only at what both know under different names; what RE2 does not know at all stays and is refused there.
 */
export function spellForRe2(source: string): string {
  let inClass = false;
  return source.replace(TOKEN, (token: string, high?: string, low?: string, property?: string) => {
    if (high !== undefined && low !== undefined) return `\\x{${codePoint(high, low)}}`;
    if (property !== undefined) return `${token.slice(0, 2)}{${categoryOf(property)}}`;
    if (token === "[" && !inClass) {
      inClass = true;
      return token;
    }
    if (token === "]") inClass = false;
    return inClass ? spellInClass(token) : spellOutside(token);
  });
}

function spellInClass(token: string): string {
  // RE2 would take `[:` for the beginning of a POSIX class.
  if (token === "[") return "\\[";
  if (token === "\\s") return WHITE;
  if (token === "\\S") return SOLID;
  return token === "\\b" ? "\\x08" : token;
}

function spellOutside(token: string): string {
  if (token === ".") return DOT;
  if (token === "\\s") return `[${WHITE}]`;
  return token === "\\S" ? `[${SOLID}]` : token;
}

function codePoint(high: string, low: string): string {
  const text = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16));
  return (text.codePointAt(0) ?? 0).toString(16);
}

function categoryOf(property: string): string {
  const name = property.replace(/^(?:General_Category|gc|Script_Extensions|scx|Script|sc)=/, "");
  return CATEGORIES.get(name.toLowerCase().replaceAll("_", "")) ?? name;
}
