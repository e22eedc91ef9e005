import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type DemoRequest, type Listening, listen, sendJson } from "./listen.ts";

type Arguments = Readonly<Record<string, unknown>>;
type Answer = { status: number; body: object };

const WEATHER_MS = 300;
const CONVERT_MS = 120;
const TRAIN_MS = 600;

/** What one euro is in other currencies. */
const PER_EURO: Readonly<Record<string, number>> = { EUR: 1, CHF: 0.94, USD: 1.16, GBP: 0.87, JPY: 178 };
const SKIES = ["a clear sky", "scattered clouds", "light rain", "fog", "a fresh breeze"];
const FIRST_HOUR: Readonly<Record<string, number>> = { morning: 6, afternoon: 13, evening: 18 };

/** A tool server as a company might have one: plain HTTP and JSON, no word about models. Its data is made up. */
export function startToolServer(): Promise<Listening> {
  return listen((request, response) => answer(request, response));
}

async function answer({ method, url, body }: DemoRequest, response: ServerResponse): Promise<void> {
  const args = body as Arguments;
  switch (`${method} ${url.pathname}`) {
    case "GET /weather":
      return late(response, WEATHER_MS, weather(url.searchParams.get("city") ?? ""));
    case "POST /convert":
      return late(response, CONVERT_MS, convert(args));
    case "POST /trains":
      return late(response, TRAIN_MS, train(args));
    default:
      return late(response, 0, { status: 404, body: { error: "There is no such tool." } });
  }
}

async function late(response: ServerResponse, ms: number, { status, body }: Answer): Promise<void> {
  await sleep(ms);
  sendJson(response, status, body);
}

function weather(city: string): Answer {
  const seed = numberOf(city);
  const sky = SKIES[seed % SKIES.length];
  return { status: 200, body: { city: titled(city), temperature_c: 6 + (seed % 19), sky } };
}

function convert({ amount, from, to }: Arguments): Answer {
  const source = PER_EURO[String(from)];
  const target = PER_EURO[String(to)];
  if (source === undefined || target === undefined) {
    const known = Object.keys(PER_EURO).join(", ");
    return { status: 422, body: { error: { message: `Only these currencies are known: ${known}.` } } };
  }
  const result = Math.round((Number(amount) / source) * target * 100) / 100;
  return { status: 200, body: { amount, from, to, result } };
}

function train({ from, to, time_of_day }: Arguments): Answer {
  const seed = numberOf(`${from}${to}`);
  const departs = ((FIRST_HOUR[String(time_of_day)] ?? 0) + (seed % 3)) * 60 + (seed % 12) * 5;
  const arrives = departs + 60 + (seed % 37) * 5;
  return {
    status: 200,
    body: {
      from: titled(String(from)),
      to: titled(String(to)),
      departs: clock(departs),
      arrives: clock(arrives),
      price_eur: 19 + (seed % 80),
    },
  };
}

/** The same number for the same text, whatever its case. */
function numberOf(text: string): number {
  let sum = 7;
  for (const char of text.toLowerCase()) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 100_003;
  return sum;
}

function titled(name: string): string {
  return name.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

function clock(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`;
}
