// The TypeScript client v2: asks for the stateless protocol first.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { token, url, walk } from "./walk.mjs";

const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
});
const client = new Client(
    { name: "archivolt-tests", version: "1" },
    { versionNegotiation: { mode: "auto" } },
);
await client.connect(transport);
await walk(client, client.getNegotiatedProtocolVersion());
