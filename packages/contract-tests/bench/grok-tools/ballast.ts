/** Loaded before a server by `--import`: makes its process as large as one that has worked for days. */
const BALLAST_BYTES = 1024 ** 3;

// Written to, so that the pages exist and a fork has to copy their table.
Object.assign(globalThis, { triviumBallast: Buffer.alloc(BALLAST_BYTES, 1) });

export {};
