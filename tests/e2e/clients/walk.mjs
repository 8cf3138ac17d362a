// What every TypeScript client does in the tests: list the tools, search, read what was found.
// Prints one line of JSON. Arguments of the scripts beside this one: URL TOKEN QUESTION

export const [url, token, question] = process.argv.slice(2);

export async function walk(client, version) {
    const { tools } = await client.listTools();
    const found = await client.callTool({ name: "search_documents", arguments: { q: question } });
    const hits = found.structuredContent?.hits ?? [];
    const read = hits.length ? await client.readResource({ uri: hits[0].uri }) : { contents: [] };
    console.log(JSON.stringify({ version, tools: tools.map((tool) => tool.name), hits, ...read }));
    await client.close();
}
