// Plain JavaScript on purpose: it must run on the very Node that is too old for the rest, and say so in words.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 16)) {
  console.error(
    `Toolweir needs Node 24.16 or newer, but this is ${process.version}. ` +
      "`npm ci` brings a fitting Node on Linux (x64, arm64); start it with `npm start`. Elsewhere install Node 24.",
  );
  process.exit(1);
}
