// Changes a vault in two steps, and where the client shows forms in one; tells what it was answered.
// Prints one line of JSON. Arguments: SDK ("v1" or "v2") URL TOKEN STRANGERS_TOKEN TOOL ARGUMENTS…
// (each as JSON: the first is proposed and applied, the second agreed to, the third declined)

import * as v2 from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [sdk, url, token, strangersToken, tool, ...given] = process.argv.slice(2);
const [first, second, third] = given.map((each) => JSON.parse(each));
const about = { name: "archivolt-tests", version: "1" };

async function connected(authorization, answers = []) {
    const requestInit = {
        headers: { Authorization: `Bearer ${authorization}`, "Accept-Language": "fr" },
    };
    if (sdk === "v1") {
        const client = new ClientV1(about);
        await client.connect(new TransportV1(new URL(url), { requestInit }));
        return client;
    }
    const client = new v2.Client(about, {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: "auto" },
    });
    client.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(params.message);
        return answers.shift();
    });
    await client.connect(new v2.StreamableHTTPClientTransport(new URL(url), { requestInit }));
    return client;
}

const asked = [];
const yes = { action: "accept", content: { confirm: true } };
const client = await connected(token, [yes, { action: "decline" }]);
const stranger = await connected(strangersToken);
const call = (values, by = client, step = "apply") =>
    by.callTool({ name: `${step}_${tool}`, arguments: values });

const proposed = await call(first, client, "propose");
const { preview, confirmation_token } = proposed.structuredContent;
const strange = await call({ confirmation_token }, stranger);
const applied = await call({ confirmation_token });
const again = await call({ confirmation_token });
const altered = await call({ confirmation_token: `${confirmation_token}x` });
const agreed = await call(second);
const declined = await call(third);
console.log(
    JSON.stringify({
        preview,
        strange: strange.content[0].text,
        applied: applied.structuredContent,
        again: again.structuredContent,
        altered: altered.content[0].text,
        asked,
        agreed: agreed.structuredContent ?? agreed.content[0].text,
        declined: declined.structuredContent ?? declined.content[0].text,
    }),
);
await client.close();
await stranger.close();
