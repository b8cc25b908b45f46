/** Cases of ours that differ from how they were first written down, each with the reason. */
export const vectorCorrections: Readonly<Record<string, string>> = {
  shutting_down:
    "no reason is expected: a server that drains refuses new calls before a service sees them, and the reason " +
    "SHUTTING_DOWN comes on the streams that are open, which the state of the case checks",
};
