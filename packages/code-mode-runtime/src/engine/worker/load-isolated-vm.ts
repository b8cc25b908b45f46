import type ivm from "isolated-vm";

/** The library that runs isolates. */
export type IsolatedVm = typeof ivm;

/**
 * Loads the native library by the path of its binary: no package resolution, hence nothing else to read.
 *
 * @throws what the dynamic loader says when the binary does not fit this Node.
 */
export function loadIsolatedVm(addonFile: string): IsolatedVm {
  const target: { exports: { ivm?: IsolatedVm } } = { exports: {} };
  process.dlopen(target, addonFile);
  if (target.exports.ivm === undefined) throw new Error(`${addonFile} is not the isolated-vm library`);
  return target.exports.ivm;
}
