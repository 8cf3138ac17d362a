// Changes a vault in two steps with the TypeScript client v2, and tells what it was answered.
// Prints one line of JSON. Arguments: URL TOKEN TOOL ARGUMENTS (as JSON)

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, token, tool, given] = process.argv.slice(2);

const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${token}`, "Accept-Language": "fr" } },
});
const client = new Client(
    { name: "archivolt-tests", version: "1" },
    { versionNegotiation: { mode: "auto" } },
);
await client.connect(transport);
const call = (name, values) => client.callTool({ name, arguments: values });
const proposed = await call(`propose_${tool}`, JSON.parse(given));
const { preview, confirmation_token } = proposed.structuredContent;
const applied = await call(`apply_${tool}`, { confirmation_token });
const again = await call(`apply_${tool}`, { confirmation_token });
const altered = await call(`apply_${tool}`, { confirmation_token: `${confirmation_token}x` });
console.log(
    JSON.stringify({
        preview,
        applied: applied.structuredContent,
        again: again.structuredContent,
        altered: altered.content[0].text,
    }),
);
await client.close();
