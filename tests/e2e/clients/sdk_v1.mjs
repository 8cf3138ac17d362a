// The TypeScript SDK v1: the handshake protocols.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { token, url, walk } from "./walk.mjs";

const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
});
const client = new Client({ name: "archivolt-tests", version: "1" });
await client.connect(transport);
await walk(client, transport.protocolVersion);
