import { readFileSync, realpathSync } from 'fs';
import { homedir } from 'os';
import { isAbsolute, join, relative, resolve } from 'path';

export type Environment = Record<string, string | undefined>;

/** expandHome returns path with a leading ~ replaced by the home folder. */
export function expandHome(path: string, home = homedir()): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;
}

/** socketPath returns where the daemon listens: the setting, EMBERD_HOME, or the default of the platform. */
export function socketPath(setting: string, env: Environment, platform: string, home = homedir()): string {
  if (setting.trim()) return expandHome(setting.trim(), home);
  if (env.EMBERD_HOME) return join(expandHome(env.EMBERD_HOME, home), 'emberd.sock');
  const runtime = env.XDG_RUNTIME_DIR ?? '';
  if (isAbsolute(runtime) && platform !== 'darwin') return join(runtime, 'emberd', 'emberd.sock');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'emberd-state', 'run', 'emberd.sock');
  const state = isAbsolute(env.XDG_STATE_HOME ?? '') ? env.XDG_STATE_HOME! : join(home, '.local', 'state');
  return join(state, 'emberd', 'run', 'emberd.sock');
}

/**
 * readToken returns the token in a file, "" if none is set. A file inside the vault is refused, because
 * the vault is synced.
 */
export function readToken(setting: string, vault: string): string {
  if (!setting.trim()) return '';
  const file = real(resolve(expandHome(setting.trim())));
  if (inside(file, real(vault)) !== null) throw new Error('the token file is inside the vault, which a sync tool can copy; move the file out of the vault');
  return readFileSync(file, 'utf8').trim();
}

/** inside returns the path of file below folder, with slashes, or null if it is elsewhere. */
export function inside(file: string, folder: string): string | null {
  const path = relative(folder, file);
  if (path === '' || path === '..' || path.startsWith('../') || isAbsolute(path)) return null;
  return path;
}

/** real resolves symbolic links where the path exists. */
export function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
