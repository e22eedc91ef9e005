import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { ask, complete } from "./support/client.ts";
import { eventually } from "./support/open-stream.ts";
import { scriptedServer } from "./support/scripted-server.ts";
import { approvals, ORDERS, startShop } from "./support/shop.ts";
import { whole } from "./support/upstream.ts";

interface Message {
  type: string;
  approval: { id: string; status: string; arguments: unknown };
}

test("whoever is told gets signed messages, again if they were not taken, and nobody waits for it", async (t) => {
  let refusals = 1;
  const hook = await scriptedServer<Message>(t, () => ({ status: refusals-- > 0 ? 503 : 204 }));
  const yaml = `approvals: { webhook: { url: "${hook.url}/hook?to=boss", secret: s3cret } }`;
  const { gateway, upstream } = await startShop(t, { yaml });
  upstream.script("m", [whole(ORDERS)]);
  const { body } = await complete(gateway, ask("m"));
  const [pending] = body.toolweir.pending_approvals;
  await eventually("the message was sent again", () => hook.requests.length === 2, 5_000);
  const [first, again] = hook.requests;
  assert.deepEqual([first?.url, again?.text], ["/hook?to=boss", first?.text]);
  assert.deepEqual(
    [again?.body.type, again?.body.approval.id, again?.body.approval.status, again?.body.approval.arguments],
    ["approval.requested", pending.id, "pending", { place: "Oslo" }],
  );
  const [, time = "", given] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(again?.headers["x-toolweir-signature"])) ?? [];
  assert.equal(given, createHmac("sha256", "s3cret").update(`${time}.${again?.text}`).digest("hex"));
  await approvals(gateway, `/${pending.id}/deny`, { reason: "no" });
  await eventually("the decision was told", () => hook.requests.length === 3, 5_000);
  assert.deepEqual(
    [hook.requests[2]?.body.type, hook.requests[2]?.body.approval.status],
    ["approval.decided", "denied"],
  );
});

test("an address that no tool may have is not told either, and the run does not mind", async (t) => {
  const yaml = 'approvals: { webhook: { url: "http://169.254.169.254/", secret: s } }';
  const { gateway, upstream } = await startShop(t, { yaml });
  upstream.script("m", [whole(ORDERS)]);
  const { body } = await complete(gateway, ask("m"));
  assert.equal(body.toolweir.stop_reason, "approval_required");
});
