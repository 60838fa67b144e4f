import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// Names without hashes: the built files are committed, and a change of one part must not rename the others.
export default defineConfig({
  base: "./",
  plugins: [svelte()],
  build: {
    outDir: "../python/elephan/explore/page",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rollupOptions: {
      output: { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
    },
  },
  worker: { format: "es", rollupOptions: { output: { entryFileNames: "[name].js" } } },
  test: { include: ["tests/**/*.test.ts"] },
});
