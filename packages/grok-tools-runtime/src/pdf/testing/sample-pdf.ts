/** A page of {@link samplePdf}: lines of text on paper of a size in points. */
export interface SamplePage {
  readonly lines?: readonly string[];
  /** Drawing operators after the text. */
  readonly drawing?: string;
  readonly width?: number;
  readonly height?: number;
}

/** A small PDF document. `trailer` adds entries to its trailer. */
export function samplePdf(pages: readonly SamplePage[], trailer = ""): Buffer {
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap(({ lines = [], drawing = "", width = 200, height = 100 }, index) => {
      const shown = lines.map((line) => `(${line}) Tj 0 -14 Td`).join(" ");
      const content = `BT /F1 12 Tf 10 ${height - 20} Td ${shown} ET ${drawing}`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${5 + index * 2} 0 R ` +
          "/Resources << /Font << /F1 3 0 R >> >> >>",
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((body, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  return Buffer.from(
    `${text}xref\n0 ${size}\n0000000000 65535 f \n${rows}` +
      `trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${text.length}\n%%EOF\n`,
    "latin1",
  );
}
