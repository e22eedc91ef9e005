import { KEY, LOG_LEVEL, PORT, STORE } from "./config-schema.ts";

/** Whether a text is a value of the setting. */
export function isPort(value: string): boolean {
  return /^\d{1,5}$/.test(value) && Number(value) <= (PORT.maximum ?? 0);
}

/** Whether a text is a value of the setting. */
export function isKey(value: string): boolean {
  return new RegExp(KEY.pattern ?? "").test(value);
}

/** Whether a text is a value of the setting. */
export function isStore(value: string): boolean {
  return new RegExp(STORE.pattern ?? "").test(value);
}

/** Whether a text is a value of the setting. */
export function isLevel(value: string): boolean {
  return LOG_LEVEL.enum?.includes(value) ?? false;
}

/** Whether a text is a URL below which an upstream's endpoints lie. */
export function isBaseUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return false;
  return url.username === "" && url.password === "" && !/[?#]/.test(text);
}

/** `auto`, or how many processes. */
export const isWorkers = (text: string): boolean =>
  text === "auto" || (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= 256);
