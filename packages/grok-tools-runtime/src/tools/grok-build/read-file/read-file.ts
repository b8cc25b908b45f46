import type { z as Zod } from "zod";
