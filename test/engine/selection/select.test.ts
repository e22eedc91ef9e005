import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChatMessage, ChatRequest } from "../../../src/core/protocol/wire.ts";
import { createSnapshot, type RegisteredTool } from "../../../src/engine/registry/tool-snapshot.ts";
import { selectTools } from "../../../src/engine/selection/select.ts";
import { termsOf } from "../../../src/engine/selection/terms.ts";
import { ToolIndex } from "../../../src/engine/selection/tool-index.ts";
import { toolNamed } from "../../support/engine.ts";

const tool = (name: string, description: string, more: object = {}) =>
  toolNamed(name, { description, ...more });

const TOOLS = [
  tool("get_weather", "Current weather and forecast of a city"),
  tool("create_invoice", "Writes an invoice for a customer"),
  tool("cancelBooking", "Cancels the booking of a hotel room"),
  tool("send_email", "Sends a message to a person", { keywords: ["mail", "write"] }),
  tool("translate", "Turns a text into another language"),
  tool("weather_cn", "查询城市的天气预报"),
  tool("hotel_kr", "호텔 예약을 취소합니다"),
  tool("stock_price", "Price of a share", {
    parameters: {
      type: "object",
      properties: { ticker: { type: "string", description: "Symbol at the exchange, such as NASDAQ" } },
    },
  }),
];

async function indexOf(tools: readonly RegisteredTool[], revision = 1): Promise<ToolIndex> {
  const index = new ToolIndex();
  await index.update(createSnapshot(revision, tools));
  return index;
}

const user = (content: string): ChatMessage => ({ role: "user", content });

async function chosen(
  messages: ChatMessage[],
  options: {
    max?: number;
    used?: string[];
    request?: Partial<ChatRequest>;
    tools?: readonly RegisteredTool[];
  } = {},
) {
  const { max = 2, used = [], request = {}, tools = TOOLS } = options;
  const snapshot = createSnapshot(1, tools);
  const index = await indexOf(tools);
  const { why } = selectTools({ model: "m", messages, ...request }, snapshot.list(), index, { max, used });
  return Object.fromEntries(why.map(({ name, reason }) => [name, reason]));
}

for (const [text, expected] of [
  ["What is the weather like in Oslo?", "get_weather"],
  ["Please cancel my hotel bookings", "cancelBooking"],
  ["write a mail to Anna", "send_email"],
  ["what does it cost at NASDAQ", "stock_price"],
  ["translating this sentence", "translate"],
  ["北京明天天气怎么样？", "weather_cn"],
  ["서울 호텔의 예약 취소해 주세요", "hotel_kr"],
  ["Je voudrais annuler mon BOOKING d'hotel", "cancelBooking"],
] as const) {
  test(`"${text}" finds ${expected}`, async () => {
    assert.equal((await chosen([user(text)], { max: 1 }))[expected], "ranked");
  });
}

test("the latest message counts most, what was said before counts too", async () => {
  const messages = [
    user("the weather in Oslo"),
    { role: "assistant", content: "Sunny." },
    user("and now the invoice"),
  ];
  assert.deepEqual(await chosen(messages), { create_invoice: "ranked", get_weather: "ranked" });
});

test("a forced tool is always there", async () => {
  const request = { tool_choice: { type: "function", function: { name: "translate" } } };
  assert.deepEqual(await chosen([user("weather")], { max: 1, request }), { translate: "forced" });
});

test("tools that the client allows are there, also more than are chosen otherwise", async () => {
  const named = ["translate", "get_weather"].map((name) => ({ type: "function", function: { name } }));
  const tool_choice = { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [...named, null, {}] } };
  const all = await chosen([user("mail")], { max: 1, request: { tool_choice } });
  assert.deepEqual(all, { translate: "forced", get_weather: "forced" });
});

test("used tools stay, the latest first, and leave half of the places", async () => {
  const used = ["send_email", "create_invoice", "translate"];
  assert.deepEqual(await chosen([user("weather")], { max: 4, used }), {
    send_email: "used",
    create_invoice: "used",
    get_weather: "ranked",
    weather_cn: "ranked",
  });
  const messages: ChatMessage[] = [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a", type: "function", function: { name: "translate", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "a", content: "x" },
    user("weather"),
  ];
  assert.deepEqual(await chosen(messages, { used: ["send_email"] }), {
    translate: "used",
    get_weather: "ranked",
  });
});

test("a name that is mentioned wins over the ranking", async () => {
  assert.deepEqual(await chosen([user("weather? no, use create_invoice")], { max: 1 }), {
    create_invoice: "mentioned",
  });
});

test("where nothing fits the first ones by name are offered", async () => {
  assert.deepEqual(await chosen([user("zzz")]), { cancelBooking: "fallback", create_invoice: "fallback" });
});

test("where what is said fits nothing, tools that were used before have the first ones by name beside them", async () => {
  assert.deepEqual(await chosen([user("zzz")], { max: 3, used: ["translate"] }), {
    cancelBooking: "fallback",
    create_invoice: "fallback",
    translate: "used",
  });
});

test("parts of a message without text are no hindrance", async () => {
  const content = [
    { type: "image_url", image_url: { url: "data:x" } },
    { type: "text", text: "weather" },
    null,
  ];
  assert.deepEqual(await chosen([{ role: "user", content } as ChatMessage], { max: 1 }), {
    get_weather: "ranked",
  });
});

test("the index follows the registry", async () => {
  const index = await indexOf(TOOLS);
  await index.update(
    createSnapshot(2, [tool("get_weather", "tides of the sea"), tool("new_one", "rainfall")]),
  );
  assert.deepEqual([...index.find("invoice").keys()], []);
  assert.deepEqual([...index.find("tides").keys()], ["get_weather"]);
  assert.deepEqual([...index.find("rainfall").keys()], ["new_one"]);
  await index.update(createSnapshot(1, TOOLS));
  assert.deepEqual([...index.find("invoice").keys()], [], "an older snapshot changes nothing");
});

test("five thousand tools are taken in without holding up others, and a long conversation costs little", async () => {
  const words = "order customer invoice weather flight hotel price report account message".split(" ");
  const many = Array.from({ length: 5_000 }, (_, n) =>
    tool(`tool_${n}`, `${words[n % 10]} ${words[(n * 7) % 10]} number ${n}`),
  );
  const index = new ToolIndex();
  let longest = 0;
  let last = performance.now();
  const ticker = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  const snapshot = createSnapshot(1, many);
  await index.update(snapshot);
  clearInterval(ticker);
  assert.ok(longest < 200, `${longest} ms`);
  const messages = Array.from({ length: 200 }, (_, n) => user(`${"the price of order ".repeat(2_000)} ${n}`));
  const from = performance.now();
  selectTools({ model: "m", messages }, snapshot.list(), index, { max: 10, used: [] });
  const ms = performance.now() - from;
  assert.ok(ms < 800, `${ms} ms`);
});

test("terms", () => {
  assert.deepEqual(termsOf("getUserHTMLPage_v2"), ["get", "user", "html", "page", "v2"]);
  assert.deepEqual(termsOf("Café naïve"), termsOf("cafe naive"));
  for (const [a, b] of [
    ["cities", "city"],
    ["booking", "book"],
    ["planning", "plan"],
    ["translated", "translate"],
    ["calculator", "calculator"],
    ["conversion", "conversions"],
  ] as const) {
    assert.deepEqual(termsOf(a), termsOf(b), `${a} ${b}`);
  }
  assert.deepEqual(termsOf("北京天气API"), ["北京", "京天", "天气", "api"]);
  assert.deepEqual(termsOf("날씨를 알려"), ["날씨", "씨를", "알려"]);
});
