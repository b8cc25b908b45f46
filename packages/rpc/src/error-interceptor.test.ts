import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import { Health } from "@trivium/proto/health";
import { describe, expect, it } from "vitest";
import { errorInterceptor } from "./error-interceptor.ts";

const transport = createRouterTransport(
  ({ service }) =>
    service(Health, {
      check() {
        throw new TriviumError("notFound", "no service named x");
      },
      async *watch() {
        yield { status: 1 };
        throw new TypeError("secret");
      },
    }),
  { router: { interceptors: [errorInterceptor] } },
);

describe("errorInterceptor", () => {
  it("turns what a unary handler throws into its status", async () => {
    await expect(createClient(Health, transport).check({})).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: "no service named x",
    });
  });

  it("turns what a stream throws after its first message into its status", async () => {
    const statuses: number[] = [];
    const reading = async (): Promise<void> => {
      for await (const { status } of createClient(Health, transport).watch({})) statuses.push(status);
    };
    const error = await reading().catch((thrown: unknown) => ConnectError.from(thrown));
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: "internal error" });
    expect(statuses).toEqual([1]);
  });
});
