import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

/** An issuer of tokens that signs what a test wants. */
export interface Issuer {
  url: string;
  /** How often the set of keys was asked for. */
  fetched(): number;
  /** What it answers for its keys in place of them; `undefined` is the keys again. */
  fail(status: number | undefined): void;
  /** From now on signs with a new key and tells only that one. */
  rotate(): Promise<void>;
  /** A token for `gateway` that ends in a minute; members of `claims` that are undefined are left out. */
  sign(claims?: JWTPayload, header?: { alg?: string; kid?: string }, key?: CryptoKey): Promise<string>;
  publicKey(): JWK;
}

export async function startIssuer(t: { after(fn: () => void): void }): Promise<Issuer> {
  let number = 0;
  const newKey = async () => {
    const pair = await generateKeyPair("ES256", { extractable: true });
    const kid = `k${++number}`;
    return { kid, key: pair.privateKey, jwk: { ...(await exportJWK(pair.publicKey)), kid, alg: "ES256" } };
  };
  let current = await newKey();
  let fetched = 0;
  let failure: number | undefined;
  const server = createServer((request, response) => {
    if (request.url === "/.well-known/openid-configuration")
      return response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }));
    fetched += 1;
    response.statusCode = failure ?? 200;
    return response.end(JSON.stringify({ keys: [current.jwk] }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    fetched: () => fetched,
    fail: (status) => {
      failure = status;
    },
    rotate: async () => {
      current = await newKey();
    },
    sign: (claims = {}, header = {}, key = current.key) => {
      const exp = Math.floor(Date.now() / 1_000) + 60;
      const payload = { iss: url, aud: "gateway", sub: "ann", exp, ...claims };
      return new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid: current.kid, ...header }).sign(key);
    },
    publicKey: () => current.jwk,
  };
}
