import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

export interface Identity {
  /** PEM */
  readonly cert: string;
  /** PEM */
  readonly key: string;
}

/** A fresh certificate authority for `localhost` and 127.0.0.1 that is its own certificate, valid for a day. */
export function selfSigned(commonName: string): Identity {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const cert = certificate(commonName, privateKey, publicKey);
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${wrap(cert.toString("base64"))}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** X.509 v3, RFC 5280 §4.1, in DER by hand: Node can sign one but not make one. */
function certificate(commonName: string, privateKey: KeyObject, publicKey: KeyObject): Buffer {
  const ecdsaWithSha256 = der(0x30, oid("2a8648ce3d040302"));
  const name = der(0x30, der(0x31, der(0x30, oid("550403"), der(0x0c, Buffer.from(commonName)))));
  const dayMs = 86_400_000;
  const validity = der(0x30, utcTime(Date.now() - dayMs), utcTime(Date.now() + dayMs));
  const alternativeNames = der(
    0x30,
    der(0x82, Buffer.from("localhost")),
    der(0x87, Buffer.from([127, 0, 0, 1])),
  );
  const isAuthority = der(0x30, der(0x01, Buffer.from([0xff])));
  const extensions = der(
    0xa3,
    der(
      0x30,
      der(0x30, oid("551d11"), der(0x04, alternativeNames)),
      der(0x30, oid("551d13"), der(0x01, Buffer.from([0xff])), der(0x04, isAuthority)),
    ),
  );
  const serial = randomBytes(8);
  serial[0] = (serial[0]! & 0x7f) | 0x01;
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    extensions,
  );
  const signature = sign("sha256", body, privateKey);
  return der(0x30, body, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function utcTime(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]/g, "").slice(2, 14);
  return der(0x17, Buffer.from(`${text}Z`));
}

function wrap(text: string): string {
  return text.replace(/(.{64})/g, "$1\n").trimEnd();
}
