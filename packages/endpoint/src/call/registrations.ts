import type { DescMethod, DescService } from "@bufbuild/protobuf";
import {
  type ConnectRouter,
  type ConnectRouterOptions,
  createConnectRouter,
  createMethodImplSpec,
  createServiceImplSpec,
  type Interceptor,
  type MethodImpl,
  type MethodImplSpec,
  type ServiceImpl,
} from "@connectrpc/connect";
import { TriviumError } from "@trivium/core";
import type { EndpointLimits, MethodLimits } from "../limits.ts";
import { callGate, startInterceptor } from "./call-gate.ts";
import { type CallHandler, universalCallHandler } from "./call-handler.ts";
import type { UniversalHandler } from "./connect-protocol.ts";
import { grpcHandler } from "./grpc-handler.ts";

type HandlerOptions = Parameters<ConnectRouter["service"]>[2];

/** One RPC with everything a call path may want: the implementation itself and Connect's handler around it. */
export interface RegisteredMethod {
  /** `/pkg.Service/Method` */
  readonly path: string;
  readonly spec: MethodImplSpec;
  /** Takes every form of a call. */
  readonly universal: CallHandler;
  /** Takes binary gRPC without compression; undefined for methods that read a stream. */
  readonly lean: CallHandler | undefined;
  readonly limits: Required<
    Record<"readMaxBytes" | "writeMaxBytes" | "writeStallMs" | "headerGraceMs", number>
  > &
    Pick<MethodLimits, "excess">;
}

/**
 * What services register with. Looks like Connect's router to them, and keeps the implementations, which Connect's
 * own router hides in its handlers.
 */
export class Registrations implements ConnectRouter {
  readonly #router: ConnectRouter;
  readonly #interceptors: readonly Interceptor[];
  readonly #limits: EndpointLimits;
  readonly #methodLimits: Readonly<Record<string, MethodLimits>>;
  readonly #methods = new Map<string, RegisteredMethod>();
  readonly #services = new Map<string, DescService>();

  constructor(
    options: ConnectRouterOptions,
    limits: EndpointLimits,
    methodLimits: Readonly<Record<string, MethodLimits>>,
  ) {
    this.#router = createConnectRouter(options);
    this.#interceptors = options.interceptors ?? [];
    this.#limits = limits;
    this.#methodLimits = methodLimits;
  }

  get handlers(): UniversalHandler[] {
    return this.#router.handlers;
  }

  /** Every service with at least one method, in the order of registration. */
  get services(): readonly DescService[] {
    return [...this.#services.values()];
  }

  /** The largest message any method may be sent. */
  get largestReadMaxBytes(): number {
    return Math.max(0, ...[...this.#methods.values()].map(({ limits }) => limits.readMaxBytes));
  }

  find(path: string): RegisteredMethod | undefined {
    return this.#methods.get(path);
  }

  service<Desc extends DescService>(
    service: Desc,
    implementation: Partial<ServiceImpl<Desc>>,
    options?: HandlerOptions,
  ): this {
    for (const spec of Object.values(createServiceImplSpec(service, implementation).methods)) {
      this.#register(spec, options);
    }
    return this;
  }

  rpc<Method extends DescMethod>(method: Method, impl: MethodImpl<Method>, options?: HandlerOptions): this {
    this.#register(createMethodImplSpec(method, impl), options);
    return this;
  }

  #register(spec: MethodImplSpec, options: HandlerOptions): void {
    const { parent, name } = spec.method;
    const limits = { ...this.#limitsOf(parent.typeName, name), ...pickLimits(options) };
    // Options of one registration would replace these of all.
    const interceptors = [...this.#interceptors, ...(options?.interceptors ?? []), startInterceptor];
    // The spec ties method and implementation together; TypeScript cannot follow that through the union.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    this.#router.rpc(spec.method, spec.impl as MethodImpl<DescMethod>, {
      ...options,
      interceptors,
      requestGate: gateBefore(options?.requestGate),
      readMaxBytes: limits.readMaxBytes,
      writeMaxBytes: limits.writeMaxBytes,
    });
    const handler = this.#router.handlers.at(-1);
    if (handler === undefined) throw new TriviumError("internal", "the router made no handler");
    if (this.#methods.has(handler.requestPath)) {
      throw new TriviumError("alreadyExists", `${handler.requestPath} is registered twice`);
    }
    const { requestGate } = options ?? {};
    const isLean = spec.kind === "unary" || spec.kind === "server_streaming";
    this.#methods.set(handler.requestPath, {
      path: handler.requestPath,
      spec,
      universal: universalCallHandler(handler),
      lean: isLean ? grpcHandler({ spec, interceptors, requestGate, ...limits }) : undefined,
      limits,
    });
    this.#services.set(parent.typeName, parent);
  }

  #limitsOf(service: string, method: string): RegisteredMethod["limits"] {
    const { readMaxBytes, writeMaxBytes, writeStallMs, headerGraceMs } = this.#limits;
    const entries = [this.#methodLimits[service], this.#methodLimits[`${service}/${method}`]];
    let limits: RegisteredMethod["limits"] = {
      readMaxBytes,
      writeMaxBytes,
      writeStallMs,
      headerGraceMs,
      excess: undefined,
    };
    for (const entry of entries) {
      limits = {
        readMaxBytes: entry?.readMaxBytes ?? limits.readMaxBytes,
        writeMaxBytes: entry?.writeMaxBytes ?? limits.writeMaxBytes,
        writeStallMs: entry?.writeStallMs ?? limits.writeStallMs,
        headerGraceMs: entry?.headerGraceMs ?? limits.headerGraceMs,
        excess: entry?.excess ?? limits.excess,
      };
    }
    return limits;
  }
}

type RequestGate = NonNullable<NonNullable<HandlerOptions>["requestGate"]>;

/** Our gate, then the one of a registration. */
function gateBefore(gate: RequestGate | undefined): RequestGate {
  if (gate === undefined) return callGate;
  return (context) => {
    callGate(context);
    return gate(context);
  };
}

function pickLimits(options: HandlerOptions): { readMaxBytes?: number; writeMaxBytes?: number } {
  return {
    ...(options?.readMaxBytes !== undefined && { readMaxBytes: options.readMaxBytes }),
    ...(options?.writeMaxBytes !== undefined && { writeMaxBytes: options.writeMaxBytes }),
  };
}
