import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { alias: [{ find: /^obsidian$/, replacement: 'obsidian-test-mocks/obsidian' }] },
  test: {
    environment: 'jsdom',
    setupFiles: ['obsidian-test-mocks/vitest-setup'],
    globalSetup: ['test/build.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
