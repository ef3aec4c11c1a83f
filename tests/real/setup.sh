#!/bin/bash
# Fetches what the real-client tests need into a folder: setup.sh DIR. Prints one line why when something cannot be had.
#   DIR/venv   Python with numpy and the gguf reader          DIR/models  two trained models (make_real.py)
#   DIR/node   node-llama-cpp with its prebuilt llama.cpp
. "$(dirname "$0")/../lib.bash"
dir=$1
mkdir -p "$dir"
log=$dir/setup.log
: >"$log"

give_up() {
	echo "$1: $(grep -v '^WARNING' "$log" | tail -n 1 | cut -c1-200)"
	exit 1
}

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
	mkdir -p "$dir/node"
	(cd "$dir/node" && timeout 600 npm install --ignore-scripts --omit=optional --no-audit --no-fund --no-update-notifier \
		node-llama-cpp@3.21.1 @node-llama-cpp/linux-x64@3.21.1) >>"$log" 2>&1 || give_up "npm does not give node-llama-cpp"
	touch "$dir/node/.done"
fi
