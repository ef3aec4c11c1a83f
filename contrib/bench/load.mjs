// Prints how many seconds llama.cpp takes to load a GGUF file by mmap: load.mjs NODE_MODULES FILE
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const [modules, file] = process.argv.slice(2);
const entry = createRequire(modules + "/").resolve("node-llama-cpp");
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(entry));

const llama = await getLlama({gpu: false, build: "never", skipDownload: true, logLevel: LlamaLogLevel.error});
const start = process.hrtime.bigint();
await llama.loadModel({modelPath: file, useMmap: true});
console.log((Number(process.hrtime.bigint() - start) / 1e9).toFixed(4));
process.exit(0);
