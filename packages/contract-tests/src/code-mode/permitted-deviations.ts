/** Vectors that this implementation does not follow, each with the reason. Empty: it follows all of them. */
export const permittedDeviations: Readonly<Record<string, string>> = {};
