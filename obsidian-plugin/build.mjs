// Bundles the plugin into the folder named on the command line, with the manifest and the styles beside it.
import { cp, mkdir } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';

const folder = process.argv[2] ?? 'dist';
await mkdir(folder, { recursive: true });
await build({
  entryPoints: ['src/main.ts'],
  outfile: join(folder, 'main.js'),
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'es2022',
  external: ['obsidian', 'electron', ...builtinModules],
  legalComments: 'none',
});
for (const name of ['manifest.json', 'styles.css']) await cp(name, join(folder, name));
