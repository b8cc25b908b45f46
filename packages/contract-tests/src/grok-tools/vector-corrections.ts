/** Cases of ours that differ from how they were first written down, each with the reason. */
export const vectorCorrections: Readonly<Record<string, string>> = {};
