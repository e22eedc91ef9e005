const CURRENCY = { type: "string", pattern: "^[A-Z]{3}$", description: "ISO 4217 code, for example EUR" };
const CITY = { type: "string", description: "Name of the city, in English" };

/** The definitions of the demo's tools, as `PUT /tools/{name}` takes them. `server` is the base URL of the tool server. */
export function toolDefinitions(server: string) {
  return [
    {
      name: "get_weather",
      description: "Current weather in a city. Use it whenever the user asks about the weather.",
      parameters: { type: "object", properties: { city: CITY }, required: ["city"] },
      http: { method: "GET", url: `${server}/weather`, query: { city: "{city}" } },
      level: "read",
      parallel_safe: true,
    },
    {
      name: "convert_currency",
      description:
        "Converts an amount of money. Use it whenever the user asks what an amount is in another currency.",
      parameters: {
        type: "object",
        properties: { amount: { type: "number", minimum: 0 }, from: CURRENCY, to: CURRENCY },
        required: ["amount", "from", "to"],
      },
      http: { method: "POST", url: `${server}/convert` },
      level: "read",
      parallel_safe: true,
    },
    {
      name: "find_train",
      description:
        "Finds a direct train between two cities. Use it whenever the user asks how to get somewhere by train.",
      parameters: {
        type: "object",
        properties: {
          from: CITY,
          to: CITY,
          time_of_day: { type: "string", enum: ["morning", "afternoon", "evening"] },
        },
        required: ["from", "to", "time_of_day"],
      },
      http: { method: "POST", url: `${server}/trains` },
      level: "read",
    },
  ];
}
