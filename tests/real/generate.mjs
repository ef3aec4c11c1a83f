// Loads a GGUF file with node-llama-cpp (llama.cpp, CPU, by mmap) and prints greedy tokens as JSON:
//   node generate.mjs NODE_MODULES FILE COUNT PROMPT
import {createRequire} from "node:module";
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const [modules, file, count, prompt] = process.argv.slice(2);
const entry = createRequire(modules + "/").resolve("node-llama-cpp");
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(entry));

const llama = await getLlama({gpu: false, build: "never", skipDownload: true, logLevel: LlamaLogLevel.warn});
const model = await llama.loadModel({modelPath: file, useMmap: true});
const mapped = readFileSync("/proc/self/maps", "utf8").includes(file);
const context = await model.createContext({contextSize: 256, threads: 2});
const sequence = context.getSequence();
const ids = [];
for await (const id of sequence.evaluate(model.tokenize(prompt), {temperature: 0})) {
    ids.push(id);
    if (ids.length === Number(count))
        break;
}
console.log(JSON.stringify({mapped, ids, text: model.detokenize(ids)}));
await llama.dispose();
