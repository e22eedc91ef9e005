import { StoreError } from "../store-error.ts";

/** Where a Redis, or several that belong together, can be found. */
export type RedisAddress = { username?: string; password?: string; tls: boolean } & (
  | { kind: "single"; host: string; port: number; db: number }
  | { kind: "sentinel"; nodes: Node[]; name: string; db: number }
  | { kind: "cluster"; nodes: Node[] }
);

interface Node {
  host: string;
  port: number;
}

const PORT = 6_379;
const SENTINEL_PORT = 26_379;

/**
 * Reads the address of a store:
 *
 * - `redis://[user:password@]host[:6379][/db]`
 * - `redis+sentinel://[user:password@]host[:26379][,host…]/master[/db]`: the master of that name, as the sentinels know it
 * - `redis+cluster://[user:password@]host[:6379][,host…]`: any nodes of a cluster
 *
 * With `rediss` in place of `redis` the connections are TLS. `valkey` and `valkeys` are the same. Throws a `StoreError`, which does not repeat
 * the address since it may hold a password.
 */
export function readAddress(url: string): RedisAddress {
  const parts =
    /^(redis|valkey)(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?#]+)(?:\/([^?#]*))?$/.exec(url);
  if (!parts) throw unreadable("it must look like redis://host:6379/0");
  const [, , secure, kind = "single", user, hosts = "", path = ""] = parts;
  const common = { ...credentials(user), tls: secure === "s" };
  const nodes = hosts.split(",").map((host) => node(host, kind === "sentinel" ? SENTINEL_PORT : PORT));
  const names = path === "" ? [] : path.split("/");
  if (kind === "cluster") {
    if (names.length > 0) throw unreadable("a cluster has no numbered databases");
    return { ...common, kind, nodes };
  }
  if (kind === "sentinel") {
    const [name = "", db, ...rest] = names;
    if (name === "" || rest.length > 0)
      throw unreadable("sentinels need the name of the master: /master or /master/0");
    return { ...common, kind, nodes, name: decode(name), db: database(db) };
  }
  const [only, ...others] = nodes;
  if (!only || others.length > 0)
    throw unreadable("several hosts need redis+sentinel:// or redis+cluster://");
  if (names.length > 1) throw unreadable("after the host comes the number of a database");
  return { ...common, kind: "single", ...only, db: database(names[0]) };
}

function credentials(user: string | undefined): { username?: string; password?: string } {
  if (user === undefined) return {};
  const [name = "", password] = user.split(/:(.*)/s);
  return {
    ...(name !== "" && { username: decode(name) }),
    ...(password !== undefined && { password: decode(password) }),
  };
}

function node(text: string, fallback: number): Node {
  const parts = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/.exec(text);
  const port = Number(parts?.[2] ?? fallback);
  if (!parts?.[1] || port < 1 || port > 65_535)
    throw unreadable("a host is a name or an address, and a port at most 65535");
  return { host: parts[1].replace(/^\[|\]$/g, ""), port };
}

function database(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw unreadable("the database must be a number");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unreadable("a % in user, password or name must be the start of an escape such as %40");
  }
}

const unreadable = (why: string) => new StoreError(`The address of the Redis store cannot be read: ${why}.`);
