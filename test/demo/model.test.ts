import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Message, reply } from "../../demo/model.ts";
import { wantedCalls } from "../../demo/wanted-calls.ts";

const TOOLS = ["get_weather", "convert_currency", "find_train"].map((name) => ({ function: { name } }));
const user = (content: string): Message => ({ role: "user", content });

/** What a call and its answer add to a conversation. */
function answered(id: string, name: string, args: object, result: object): Message[] {
  return [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, function: { name, arguments: JSON.stringify(args) } }],
    },
    { role: "tool", tool_call_id: id, content: JSON.stringify(result) },
  ];
}

describe("what the scripted model wants to look up", () => {
  const cases: [question: string, ...calls: [name: string, args: object][]][] = [
    ["What is the weather in Oslo?", ["get_weather", { city: "Oslo" }]],
    ["weather in new york today", ["get_weather", { city: "new york" }]],
    ["Paris weather?", ["get_weather", { city: "Paris" }]],
    ["Will it be warm for my trip to Lisbon?", ["get_weather", { city: "Lisbon" }]],
    ["How cold is it in St. Gallen right now?", ["get_weather", { city: "St. Gallen" }]],
    [
      "Is it raining in Rome, and in Milan?",
      ["get_weather", { city: "Rome" }],
      ["get_weather", { city: "Milan" }],
    ],
    ["How much is 1,500.5 USD in yen?", ["convert_currency", { amount: "1500.5", from: "USD", to: "JPY" }]],
    ["€20 in dollars, please", ["convert_currency", { amount: "20", from: "EUR", to: "USD" }]],
    [
      "An evening train to Bergen from Oslo!",
      ["find_train", { from: "Oslo", to: "Bergen", time: "evening" }],
    ],
    ['Call my_tool {"id": 12345678901234567890}', ["my_tool", { id: 12345678901234567890n }]],
    ["Hello, who are you?"],
    ["What about the weather?"],
    ["Call me on Sunday in Rome"],
  ];
  for (const [question, ...expected] of cases) {
    test(question, () => {
      const made = wantedCalls(question).map(
        (call) => `${call.name} ${call.arguments.replaceAll(": ", ":")}`,
      );
      const big = (_: string, value: unknown) => (typeof value === "bigint" ? `<${value}>` : value);
      const wanted = expected.map(
        ([name, args]) => `${name} ${JSON.stringify(args, big).replace(/"<(.+)>"/, "$1")}`,
      );
      assert.deepEqual(made, wanted);
    });
  }
});

describe("what the scripted model says next", () => {
  test("calls under the name that the gateway's sentence gave it", () => {
    const refused = {
      success: false,
      data: null,
      error:
        'Parameter "city" is missing, and you sent "town", which is not known; did you mean "city"? Correct it and call again.',
    };
    const messages = [
      user('Call get_weather {"town":"Oslo"}'),
      ...answered("c1", "get_weather", { town: "Oslo" }, refused),
    ];
    assert.deepEqual(
      reply({ model: "m", messages, tools: TOOLS }).calls.map((call) => call.arguments),
      ['{"city":"Oslo"}'],
    );
  });

  test("gives up where it is not told what to do, and says why", () => {
    const refused = { success: false, data: null, error: "The tool is down." };
    const messages = [user("Weather in Oslo?"), ...answered("c1", "get_weather", { city: "Oslo" }, refused)];
    const said = reply({ model: "m", messages, tools: TOOLS });
    assert.deepEqual(said, { text: "get_weather did not help: The tool is down.", calls: [] });
  });

  test("answers with what the tool said", () => {
    const data = { city: "Oslo", temperature_c: -3, sky: "fog" };
    const result = { success: true, data, error: null };
    const messages = [user("Weather in Oslo?"), ...answered("c1", "get_weather", { city: "Oslo" }, result)];
    assert.equal(reply({ model: "m", messages, tools: TOOLS }).text, "In Oslo it is -3 °C with fog.");
  });

  test("begins afresh with the user's next question", () => {
    const result = { success: true, data: {}, error: null };
    const before = [user("Weather in Oslo?"), ...answered("c1", "get_weather", { city: "Oslo" }, result)];
    const messages = [...before, { role: "assistant", content: "Fog." }, user("Weather in Oslo?")];
    assert.equal(reply({ model: "m", messages, tools: TOOLS }).calls.length, 1);
  });

  test("calls nothing that it was not offered, or may not call", () => {
    const messages = [user("Weather in Oslo?")];
    assert.deepEqual(reply({ model: "m", messages }).calls, []);
    assert.deepEqual(reply({ model: "m", messages, tools: TOOLS, tool_choice: "none" }).calls, []);
  });

  test("says what it can do where it understands nothing", () => {
    const said = reply({ model: "m", messages: [user("Sing!")], tools: TOOLS });
    assert.match(said.text, /^I am a scripted model/);
    assert.deepEqual(said.calls, []);
  });
});
