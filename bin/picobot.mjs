#!/usr/bin/env node
// Old versions of Node.js must be able to read this file, so that they can say what is wrong.
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `error: PicoBot needs Node.js 20.19 or newer; this is ${process.versions.node}. See https://nodejs.org`,
  );
  process.exitCode = 1;
} else {
  // Whoever reads us (`| head`, a log collector) may leave early; that is no crash.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  import('../scripts/bootstrap.mjs')
    .then(async ({ prepare, repository }) => {
      await prepare(repository);
      const { main } = await import('../dist/src/cli/main.js');
      process.exitCode = await main(process.argv.slice(2));
    })
    .catch((error) => {
      console.error(error.constructor.name === 'BootstrapError' ? `error: ${error.message}` : error);
      process.exitCode = 1;
    });
}
