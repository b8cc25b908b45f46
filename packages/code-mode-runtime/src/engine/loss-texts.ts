/** Error text of a cell that passed its heap limit. */
export const OUT_OF_MEMORY_TEXT = "exec runtime out of memory";

/** Error text of a cell whose worker is gone, or whose isolate broke. */
export const LOST_TEXT = "exec runtime lost";
