import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, complete, send, stream } from "./support/client.ts";
import { approvals, as, ORDERS, PEOPLE, SAYS, settled, startShop } from "./support/shop.ts";
import { streamed, whole } from "./support/upstream.ts";

interface Pending {
  id: string;
  name: string;
  arguments: unknown;
  expires_at: string;
}

test("a call that changes something waits for a person, runs once after the yes, and the conversation goes on", async (t) => {
  const { gateway, upstream, tools } = await startShop(t);
  upstream.script("m", [streamed(ORDERS), streamed(SAYS)]);
  const first = await stream(gateway, ask("m"));
  const [pending] = first.summary["pending_approvals"] as Pending[];
  assert.ok(pending);
  assert.deepEqual([first.finish, first.summary["stop_reason"]], ["stop", "approval_required"]);
  assert.deepEqual([pending.name, pending.arguments], ["create_order", { place: "Oslo" }]);
  assert.ok(first.content.startsWith("I order it. \n\nThis needs a person's approval"));
  for (const part of ["create_order", '{"place":"Oslo"}', pending.id])
    assert.ok(first.content.includes(part));
  assert.equal(tools.requests.length, 0);

  const approved = await approvals(gateway, `/${pending.id}/approve`, {});
  assert.equal(approved.status, 200);
  assert.match(approved.body.status, /executing|succeeded/);
  const done = await settled(gateway, pending.id);
  assert.deepEqual([done.status, done.result?.success, tools.requests.length], ["succeeded", true, 1]);

  const messages = [
    { role: "user", content: "Go." },
    { role: "assistant", content: first.content },
    { role: "user", content: "And?" },
  ];
  const second = await stream(gateway, ask("m", { messages }));
  assert.deepEqual([second.content, second.finish], ["Done.", "stop"]);
  const asked = upstream.of("m")[1]?.body.messages ?? [];
  assert.deepEqual(
    asked.map(({ role }) => role),
    ["user", "assistant", "tool", "user"],
  );
  assert.equal(asked[1]?.content, "I order it. ");
  assert.match(String(asked[2]?.content), /"success":true,"data":\{"tool":"create_order"/);
  assert.equal(tools.requests.length, 1);
});

test("the next request of a named session goes on, also without the gateway's text in its history", async (t) => {
  const { gateway, upstream, tools } = await startShop(t);
  const session = { "x-toolweir-session": "s1" };
  const next = async (messages: object[]) => {
    upstream.script("m", [streamed(SAYS)]);
    await stream(gateway, ask("m", { messages }), session);
    return (upstream.of("m").at(-1)?.body.messages ?? []).map(({ role }) => role);
  };
  upstream.script("m", [streamed(ORDERS)]);
  const first = await stream(gateway, ask("m"), session);
  const [pending] = first.summary["pending_approvals"] as Pending[];
  const asked = { role: "user", content: "Go." };
  assert.deepEqual(await next([asked]), ["user"], "nothing is decided yet");
  await approvals(gateway, `/${pending?.id}/approve`, {});
  await settled(gateway, pending?.id ?? "");
  assert.deepEqual(
    await next([{ role: "user", content: "Other." }]),
    ["user"],
    "it was not the answer to that",
  );
  assert.deepEqual(await next([asked, { role: "user", content: "And?" }]), [
    "user",
    "assistant",
    "tool",
    "user",
  ]);
  const told = upstream.of("m").at(-1)?.body.messages[2];
  assert.match(String(told?.content), /"success":true,"data":\{"tool":"create_order"/);
  assert.deepEqual(await next([asked]), ["user"], "it was gone on with");
  assert.equal(tools.requests.length, 1);
});

test("a denial is told to the model with its reason, and nothing runs", async (t) => {
  const { gateway, upstream, tools } = await startShop(t);
  upstream.script("m", [whole(ORDERS), whole(SAYS)]);
  const first = await complete(gateway, ask("m"));
  const { toolweir, choices } = first.body;
  const [pending] = toolweir.pending_approvals as Pending[];
  const denied = await approvals(gateway, `/${pending?.id}/deny`, { reason: "too dear" });
  assert.deepEqual([denied.status, denied.body.status, denied.body.reason], [200, "denied", "too dear"]);
  const messages = [{ role: "user", content: "Go." }, choices[0].message, { role: "user", content: "And?" }];
  await complete(gateway, ask("m", { messages }));
  assert.match(
    String(upstream.of("m")[1]?.body.messages[2]?.content),
    /denied this call: too dear\. It was not run/,
  );
  assert.equal(tools.requests.length, 0);
});

test("while nobody has decided, the model is told that the call waits", async (t) => {
  const { gateway, upstream, tools } = await startShop(t);
  upstream.script("m", [whole(ORDERS), whole(SAYS)]);
  const first = await complete(gateway, ask("m"));
  const messages = [
    { role: "user", content: "Go." },
    first.body.choices[0].message,
    { role: "user", content: "And?" },
  ];
  await complete(gateway, ask("m", { messages }));
  assert.match(String(upstream.of("m")[1]?.body.messages[2]?.content), /waits for a person's approval/);
  assert.equal(tools.requests.length, 0);
});

test("a run is gone on with once, in the stream or as a whole", async (t) => {
  const { gateway, upstream, tools } = await startShop(t);
  upstream.script("m", [streamed(ORDERS), whole(SAYS), whole({ text: "Again?" })]);
  const first = await stream(gateway, ask("m", { stream_options: { include_usage: true } }));
  const run = String(first.summary["run_id"]);
  const [pending] = first.summary["pending_approvals"] as Pending[];
  const resume = async (body?: unknown) => {
    const response = await send(gateway, `/runs/${run}/resume`, body);
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
  };
  const early = await resume({});
  assert.deepEqual([early.status, early.body.error.code], [409, "approval_pending"]);
  await approvals(gateway, `/${pending?.id}/approve`, {});
  const answer = await resume({ stream: false });
  assert.deepEqual([answer.status, answer.body.choices[0].message.content], [200, "Done."]);
  const again = await resume({ stream: false });
  assert.deepEqual(
    [again.body.choices, again.headers.get("idempotent-replayed")],
    [answer.body.choices, "true"],
  );
  assert.deepEqual([upstream.of("m").length, tools.requests.length], [2, 1]);
  const asked = upstream.of("m")[1]?.body;
  assert.deepEqual([asked?.stream, asked?.["stream_options"], asked?.messages.length], [false, undefined, 3]);
  const unknown = await send(gateway, "/runs/run_0/resume", {});
  assert.equal(unknown.status, 404);
});

test("who may decide: approvers and administrators; others see their own and no more", async (t) => {
  const { gateway, upstream } = await startShop(t, PEOPLE);
  upstream.script("m", [whole(ORDERS)]);
  const first = await complete(gateway, ask("m"), as("app"));
  const [pending] = first.body.toolweir.pending_approvals as Pending[];
  const path = `/${pending?.id}`;
  const see = async (name: string) => (await approvals(gateway, path, undefined, as(name))).status;
  assert.deepEqual(
    [await see("app"), await see("other"), await see("boss"), await see("admin")],
    [200, 404, 200, 200],
  );
  const decide = (name: string, verb: string, body: object = {}) =>
    approvals(gateway, `${path}/${verb}`, body, as(name));
  const own = await decide("app", "approve");
  assert.deepEqual([own.status, own.body.error.code], [403, "insufficient_scope"]);
  assert.equal((await decide("other", "approve")).status, 404);
  const wrong = await decide("boss", "approve", { arguments_sha256: "0".repeat(64) });
  assert.deepEqual([wrong.status, wrong.body.error.code], [409, "approval_stale"]);
  const { body } = await approvals(gateway, path, undefined, as("boss"));
  const yes = await decide("boss", "approve", { arguments_sha256: body.arguments_sha256 });
  assert.deepEqual([yes.status, yes.body.decided_by], [200, "boss"]);
  assert.equal((await decide("admin", "approve")).status, 200);
  const no = await decide("admin", "deny");
  assert.deepEqual(
    [no.status, no.body.error.code, no.headers.get("x-should-retry")],
    [409, "approval_already_decided", "false"],
  );
});
