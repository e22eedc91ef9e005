import assert from "node:assert/strict";
import { test } from "node:test";
import { TEXT_FORMATS } from "../../../../src/core/protocol/text/formats/all.ts";
import type { TextFormat } from "../../../../src/core/protocol/text/reader.ts";
import { type Fixture, sharedFixtures } from "./fixtures.ts";
import { cutsOf, faultOf, readPieces, toolsOf } from "./reading.ts";

const fixtures = sharedFixtures();
const formats = new Map(TEXT_FORMATS.flatMap((format) => format.names.map((name) => [name, format])));

function check(format: TextFormat, fixture: Fixture): void {
  const tools = toolsOf(fixture);
  const prefilled = fixture.options?.reasoning_prefilled === true;
  const [first] = cutsOf(fixture);
  const whole = readPieces(format, first ?? [], tools, prefilled);
  assert.equal(faultOf(whole, fixture), undefined);
  for (const pieces of cutsOf(fixture)) {
    assert.deepEqual(readPieces(format, pieces, tools, prefilled), whole, JSON.stringify(pieces));
  }
}

for (const name of [...formats.keys()]) {
  const mine = fixtures?.filter((fixture) => fixture.format === name) ?? [];
  test(`${name}: every shared sample in every cut`, {
    skip: fixtures ? false : "../shared/formats is not there",
  }, async (t) => {
    for (const fixture of mine) {
      await t.test(fixture.id, () => check(formats.get(name) as TextFormat, fixture));
    }
  });
}
