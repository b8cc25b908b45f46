/** Entry of the test server that is started as a program. `MCP_TEST_START`: `hang` or `exit` instead of serving. */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createTestServer } from "./test-tools.ts";

process.stderr.write("the test server starts\n");
// Programs print such things; it is no message.
process.stdout.write("welcome\n");
const mode = process.env["MCP_TEST_START"];
if (mode === "exit") process.exitCode = 7;
else if (mode === "hang") setInterval(() => {}, 60_000);
else await createTestServer().connect(new StdioServerTransport());
