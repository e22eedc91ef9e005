// Plays a folder of case files against a gateway that it starts: `npm run cases -- FOLDER`. A line for each failure, and at last
// "N passed, N failed". The status is 0 when all passed, 1 when one failed, 2 when there is nothing to play.
import { readCases } from "./cases/case-file.ts";
import { startGateway } from "./cases/gateway.ts";
import { playCase, whyNot } from "./cases/play.ts";
import { startScriptedServers } from "./cases/scripted-servers.ts";

async function main(folder: string | undefined): Promise<number> {
  if (folder === undefined) return refuse("Usage: npm run cases -- FOLDER");
  const files = readCases(folder);
  const playable = files.filter((file) => whyNot(file) === undefined);
  for (const file of files) if (!playable.includes(file)) console.log(`skipped ${file.id}: ${whyNot(file)}`);
  if (playable.length === 0) return refuse(`There is no case to play in ${folder}.`);
  const servers = await startScriptedServers();
  const gateway = await startGateway(servers.model);
  let failed = 0;
  for (const file of playable) {
    const faults = await playCase({ gateway, servers }, file);
    if (faults.length === 0) continue;
    failed++;
    console.log(`failed ${file.id}: ${faults.join("; ").replace(/\s+/g, " ")}`);
  }
  await gateway.close();
  await servers.close();
  console.log(`${playable.length - failed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}

function refuse(message: string): number {
  console.error(message);
  return 2;
}

try {
  process.exitCode = await main(process.argv[2]);
} catch (error) {
  process.exitCode = refuse(error instanceof Error ? error.message : String(error));
}
