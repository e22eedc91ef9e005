/** What can be put right in a broken JSON text, each by a word of its own for records and counting. */
export const REPAIR_NAMES = [
  "byte_order_mark",
  "code_fence",
  "surrounding_text",
  "comment",
  "trailing_comma",
  "python_literal",
  "single_quotes",
  "smart_quotes",
  "unquoted_key",
  "raw_control_character",
] as const;

export type RepairName = (typeof REPAIR_NAMES)[number];
