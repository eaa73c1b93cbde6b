import obsidianmd from 'eslint-plugin-obsidianmd';
import tseslint from 'typescript-eslint';
import { defineConfig, globalIgnores } from 'eslint/config';

export default defineConfig([
  globalIgnores(['node_modules', 'dist', 'look/out', '**/*.mjs', '**/*.mts', 'package-lock.json', 'versions.json', 'tsconfig.json']),
  ...obsidianmd.configs.recommended,
  {
    files: ['**/*.ts'],
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true } },
  },
  {
    // Tests run in Node, outside of any window.
    files: ['test/**/*.ts', 'look/**/*.ts'],
    rules: {
      'obsidianmd/prefer-window-timers': 'off',
      'obsidianmd/hardcoded-config-path': 'off',
      'no-restricted-globals': 'off',
    },
  },
]);
