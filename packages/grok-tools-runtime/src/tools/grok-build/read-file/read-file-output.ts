import { z } from "zod";
import type { ToolOutputDefinition } from "../../../tool.ts";

const image = z.object({ data: z.string(), mime_type: z.string() });

const fileContent = z.object({
  content: z.string(),
  content_concise: z.string().optional(),
  absolute_path: z.string(),
  offset: z.int().nullable(),
  limit: z.int().optional(),
  raw_output: z.string(),
  total_lines: z.int(),
  extracted_images: z.array(image).optional(),
  total_lines_estimated: z.literal(true).optional(),
  encoding: z.enum(["utf-16le", "utf-16be"]).optional(),
  had_bom: z.literal(true).optional(),
});

const pdfPages = z.object({
  pages: z.array(image.extend({ page_number: z.int() })),
  total_pages: z.int(),
  file_size: z.int(),
});

const type = z.literal("ReadFile");
const failures = [
  "FileNotFound",
  "IsADirectory",
  "PermissionDenied",
  "FileTooLarge",
  "FileReadError",
  "ImageSizeError",
];

/** The union value `ReadFile`. */
export const readFileOutput: ToolOutputDefinition = {
  schema: z.union([
    z.object({ type, FileContent: fileContent }),
    z.object({ type, ImageContent: image }),
    z.object({ type, PdfPageImages: pdfPages }),
    ...failures.map((variant) => z.object({ type, [variant]: z.string() })),
  ]),
  fields: [
    { name: "content", description: "Text with line anchors.", type: "string", potentiallyLarge: true },
    {
      name: "content_concise",
      description: "The same for concise output.",
      type: "string",
      potentiallyLarge: true,
      defaultOnly: true,
    },
    { name: "absolute_path", description: "Real path of the file.", type: "string" },
    { name: "offset", description: "First line asked for; null when counted from the end.", type: "number" },
    { name: "limit", description: "Number of lines asked for.", type: "number" },
    {
      name: "raw_output",
      description: "The lines as they are in the file.",
      type: "string",
      potentiallyLarge: true,
    },
    { name: "total_lines", description: "Lines of the file.", type: "number" },
    {
      name: "extracted_images",
      description: "Pictures that were embedded in the text.",
      type: "array",
      potentiallyLarge: true,
    },
    {
      name: "total_lines_estimated",
      description: "True when `total_lines` is an estimate.",
      type: "boolean",
    },
    { name: "encoding", description: "Encoding, when it is not UTF-8.", type: "string" },
    { name: "had_bom", description: "True when the file starts with a byte order mark.", type: "boolean" },
  ],
};
