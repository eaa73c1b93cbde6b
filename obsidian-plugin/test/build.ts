import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** setup builds the daemon that the tests run, unless EMBERD_TEST_BINARY names one. */
export default function setup(): (() => void) | undefined {
  if (process.env.EMBERD_TEST_BINARY) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'emberd-plugin-'));
  process.env.EMBERD_TEST_BINARY = join(folder, 'emberd');
  const env = { ...process.env, CGO_ENABLED: '0' };
  execFileSync('go', ['build', '-o', process.env.EMBERD_TEST_BINARY, './cmd/emberd'], { cwd: '..', stdio: 'inherit', env });
  return () => rmSync(folder, { recursive: true, force: true });
}
