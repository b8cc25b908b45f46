import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyAddress } from "./address-class.ts";

describe("classifyAddress", () => {
  it.each([
    ["8.8.8.8", "public"],
    ["172.15.255.255", "public"],
    ["172.32.0.0", "public"],
    ["100.63.255.255", "public"],
    ["2606:4700:4700::1111", "public"],
    ["[2a00:1450::1]", "public"],
    ["::ffff:8.8.8.8", "public"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.255", "loopback"],
    ["::1", "loopback"],
    ["::ffff:7f00:1", "loopback"],
    ["10.0.0.0", "private"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.168.1.1", "private"],
    ["100.64.0.1", "private"],
    ["100.127.255.255", "private"],
    ["fd12::1", "private"],
    ["fec0::1", "private"],
    ["::ffff:10.1.2.3", "private"],
    ["169.254.0.1", "link-local"],
    ["169.254.169.254", "link-local"],
    ["fe80::1%eth0", "link-local"],
    ["100.100.100.200", "metadata"],
    ["168.63.129.16", "metadata"],
    ["fd00:ec2::254", "metadata"],
    ["0.0.0.0", "reserved"],
    ["0.1.2.3", "reserved"],
    ["192.0.0.1", "reserved"],
    ["192.0.2.1", "reserved"],
    ["192.88.99.1", "reserved"],
    ["198.18.0.1", "reserved"],
    ["198.19.255.255", "reserved"],
    ["198.51.100.1", "reserved"],
    ["203.0.113.1", "reserved"],
    ["224.0.0.1", "reserved"],
    ["255.255.255.255", "reserved"],
    ["::", "reserved"],
    ["::127.0.0.1", "reserved"],
    ["64:ff9b::7f00:1", "reserved"],
    ["64:ff9b:1::1", "reserved"],
    ["2002:7f00:1::", "reserved"],
    ["2001::1", "reserved"],
    ["2001:db8::1", "reserved"],
    ["3fff::1", "reserved"],
    ["ff02::1", "reserved"],
    ["localhost", "reserved"],
    ["127.1", "reserved"],
    ["", "reserved"],
  ])("%s is %s", (address, expected) => {
    expect(classifyAddress(address)).toBe(expected);
  });

  it("judges an IPv4 address the same when it is written as IPv6", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(classifyAddress(`::ffff:${address}`)).toBe(classifyAddress(address));
      }),
    );
  });

  it("reads every spelling of an IPv6 address alike", () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        expect(classifyAddress(new URL(`http://[${address}]/`).hostname)).toBe(classifyAddress(address));
      }),
    );
  });
});
