import { Code, ConnectError } from "@connectrpc/connect";
import { CrabcodeClient } from "@trivium/crabcode-client";
import { fromConnectError } from "@trivium/rpc";
import { describe, expect, it } from "vitest";
import { isPassingFault } from "./passing-fault.ts";
