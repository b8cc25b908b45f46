import { describe, expect, it } from "vitest";
import { checkPageAddress } from "./page-address.ts";

const check = (text: string, allowLocal = false): unknown => {
  const checked = checkPageAddress(text, allowLocal);
  return checked instanceof URL ? checked.href : checked.reason;
};

describe("checkPageAddress", () => {
  it.each([
    ["https://example.com/a?b#c", "https://example.com/a?b"],
    ["http://example.com:80/", "https://example.com/"],
    [" https://example.com. ", "https://example.com./"],
    ["https://[2606:4700:4700::1111]/", "https://[2606:4700:4700::1111]/"],
    ["http://8.8.8.8/", "https://8.8.8.8/"],
  ])("takes %s", (text, href) => {
    expect(check(text)).toBe(href);
  });

  it.each([
    ["", "url"],
    ["not a url", "url"],
    ["/path", "url"],
    ["ftp://example.com/x", "url"],
    ["file:///etc/passwd", "url"],
    ["http://user:p@example.com/", "url"],
    ["http://user@example.com/", "url"],
    ["http://intranet/", "url"],
    ["http://intranet./", "url"],
    [`https://example.com/${"a".repeat(2000)}`, "url"],
    ["http://127.0.0.1:9/", "address"],
    ["http://localhost/", "address"],
    ["http://[::1]:9/", "address"],
    ["http://2130706433/", "address"],
    ["http://0x7f.1/", "address"],
    ["http://[::ffff:127.0.0.1]/", "address"],
    ["http://169.254.169.254/latest", "address"],
    ["http://10.0.0.1/", "address"],
    ["http://[fe80::1]/", "address"],
    ["http://0.0.0.0/", "address"],
  ])("refuses %s", (text, reason) => {
    expect(check(text)).toBe(reason);
  });

  it("lets this machine through by its own names only, and leaves its scheme alone", () => {
    expect(check("http://127.0.0.1:9/", true)).toBe("http://127.0.0.1:9/");
    expect(check("http://localhost:9/", true)).toBe("http://localhost:9/");
    expect(check("http://[::1]:9/", true)).toBe("http://[::1]:9/");
    expect(check("http://10.0.0.1/", true)).toBe("address");
    expect(check("http://0.0.0.0/", true)).toBe("address");
  });
});
