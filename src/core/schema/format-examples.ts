/** A value of each format whose name alone does not say how it is written, by the name in quotes. */
export const EXAMPLES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    date: "2024-05-31",
    "date-time": "2024-05-31T14:30:00Z",
    time: "14:30:00Z",
    duration: "P1DT2H",
    uri: "https://example.com/a",
    email: "name@example.com",
  }).map(([format, example]) => [JSON.stringify(format), example]),
);
