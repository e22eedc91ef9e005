import type { PolicyRecord } from "./calls/policy.ts";
import type { Change } from "./gates/gate.ts";
import type { CallRecord, RoundRecord, RunRecord } from "./run-record.ts";

type Gates = CallRecord["gates"];

const hidden = (text: string): string => `[redacted: ${text.length} characters]`;
const HIDDEN = "[redacted]";

/**
 * A record without what was said in the conversation: argument texts, values that gates put in or took out, thoughts, and sentences for the
 * model, which may quote values. What happened, to which parameter and why in a closed word stays. The record itself is not changed.
 */
export function redactRun(record: RunRecord): RunRecord {
  return { ...record, rounds: record.rounds.map(redactRound) };
}

function redactRound(round: RoundRecord): RoundRecord {
  const { thought } = round;
  return {
    ...round,
    ...(thought !== undefined && { thought: hidden(thought) }),
    calls: round.calls.map(redactCall),
  };
}

function redactCall(call: CallRecord): CallRecord {
  const { raw, thought, hopeless, policy, state } = call;
  return {
    ...call,
    raw: hidden(raw),
    gates: redactGates(call.gates),
    ...(thought !== undefined && { thought: hidden(thought) }),
    ...(hopeless && { hopeless: { ...hopeless, feedback: hidden(hopeless.feedback) } }),
    ...(policy && { policy: policy.map(redactPolicy) }),
    ...(state && { state: { ...state, faults: state.faults.map(({ key }) => ({ key, reason: HIDDEN })) } }),
  };
}

function redactPolicy(record: PolicyRecord): PolicyRecord {
  const { fallback } = record;
  if (!fallback) return record;
  return {
    ...record,
    fallback: { ...fallback, gates: redactGates(fallback.gates) as typeof fallback.gates },
  };
}

function redactGates(gates: Gates): Gates {
  return gates.map((verdict) => {
    const { feedback, changes } = verdict;
    return {
      ...verdict,
      ...(feedback !== undefined && { feedback: hidden(feedback) }),
      ...(changes && { changes: changes.map(redactChange) }),
    };
  });
}

function redactChange(change: Change): Change {
  return {
    ...change,
    ...("from" in change && { from: HIDDEN }),
    ...("to" in change && { to: HIDDEN }),
  };
}
