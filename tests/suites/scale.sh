# Size and memory: a tokenizer of 33 MB, sparse checkpoints of 1 TB and of DeepSeek-V3's shape, and 1.2 GB read through
# a mount.
# Times are the best of three: idle, a two-core machine needs half of the limits, but it may not be idle.
. "$(dirname "$0")/../lib.bash"
scratch

plan_limit_ms=${SCALE_PLAN_MS:-2000} plan_limit_kib=$((300 * 1024)) read_limit_kib=$((200 * 1024))
tokens_limit_ms=${SCALE_TOKENS_MS:-1500} tokens_limit_kib=$((400 * 1024))

# within DESCRIPTION VALUE LIMIT UNIT
within() {
	if (($2 <= $3)); then
		ok "scale: $1: $2 $4 (limit $3)"
	else
		not_ok "scale: $1: $2 $4 (limit $3)"
	fi
}

peak_kib() { awk '$1 == "VmHWM:" { print $2 }' "/proc/$1/status"; }
bytes_read() { awk '$1 == "rchar:" { print $2 }' "/proc/$1/io"; }

mounted() { # DIR OPTIONS: mounts $model and sets $pid
	mkdir -p "$1"
	check "scale: $2 mounts" "$MOUNT" "$model" "$1" -o "$2" || return 1
	pid=$(daemon_of "$1" | head -n 1)
	[[ $pid ]] || { not_ok "scale: the daemon of $1 is found"; return 1; }
}

# The least of the first column of lines on standard input.
least() { sort -n | head -n 1 | cut -d' ' -f1; }

plan_three_times() {
	local i
	rm -f "$TMP/times"
	for i in 1 2 3; do
		"$TOOLS/maxrss" "$TMP/use" "$HFGGUF" plan "$model" >"$TMP/plan" || return
		cat "$TMP/use" >>"$TMP/times"
	done
}

name_three_times() { # the hash is unknown: the rules are looked at too
	local i
	for i in 1 2 3; do
		"$TOOLS/maxrss" "$TMP/use" "$HFGGUF" tokens --pre "$TMP/tokenizer" >"$TMP/name" 2>&1 || return
		cat "$TMP/use" >>"$TMP/tokens"
	done
}

big_tokenizer() {
	local ms kib
	mkdir "$TMP/tokenizer"
	check "scale: a tokenizer.json of 33 MB is made" \
		python3 "$ROOT/tests/tools/big_tokenizer.py" "$TMP/tokenizer/tokenizer.json" || return
	check "scale: its check text is hashed" name_three_times || return
	read -r ms kib <"$TMP/use"
	within "time of the hash" "$(least <"$TMP/tokens")" "$tokens_limit_ms" ms
	within "memory of the hash" "$kib" $tokens_limit_kib KiB
	rm -r "$TMP/tokenizer"
}

sparse_plan() { # WHAT LIMIT_MS LIMIT_KIB TENSOR
	local ms kib
	check "scale: plan of $1" plan_three_times || return
	read -r ms kib <"$TMP/use"
	within "time of the plan of $1" "$(least <"$TMP/times")" "$2" ms
	within "memory of the plan of $1" "$kib" "$3" KiB
	check "scale: the plan of $1 names the experts of the last layer" grep -q "$4" "$TMP/plan"
}

random_reads() { # FILE SIZE COUNT: 4 KiB reads all over the file
	local i at
	for ((i = 0; i < $3; i++)); do
		at=$(((RANDOM << 45 ^ RANDOM << 30 ^ RANDOM << 15 ^ RANDOM) % ($2 / 4096)))
		[[ $(dd if="$1" bs=4096 count=1 skip=$at iflag=direct status=none | wc -c) == 4096 ]] || return 1
	done
}

mount_twice() {
	local i start
	for i in 1 2; do
		start=$(date +%s%N)
		"$MOUNT" "$model" "$1" -o outtype=q8_0 || return
		echo $((($(date +%s%N) - start) / 1000000)) >>"$TMP/mounts"
		unmount "$1" || return
	done
}

sparse_mount() {
	local mnt=$TMP/sparse file start before size
	mkdir -p "$mnt"
	check "scale: 1 TB mounts and unmounts twice" mount_twice "$mnt"
	start=$(date +%s%N)
	mounted "$mnt" outtype=q8_0 || return
	echo $((($(date +%s%N) - start) / 1000000)) >>"$TMP/mounts"
	within "time to mount 1 TB" "$(least <"$TMP/mounts")" "$plan_limit_ms" ms
	file=$(echo "$mnt"/*.gguf)
	size=$(stat -c %s "$file")
	check "scale: the q8_0 file has $size bytes" test "$size" -gt 500000000000
	before=$(bytes_read "$pid")
	check "scale: 64 random reads of 4 KiB in it" random_reads "$file" "$size" 64
	within "source bytes read for them" $((($(bytes_read "$pid") - before) / 64)) $((4 << 20)) "bytes a read"
	within "memory of the daemon" "$(peak_kib "$pid")" $plan_limit_kib KiB
	check "scale: it unmounts" unmount "$mnt"
}

# A page of one expert's rows, of 7.5 GB that 256 experts' matrices are stacked to: only they and their scales are read.
expert_reads() {
	local mnt=$TMP/deepseek file before at offset size
	mounted "$mnt" outtype=bf16 || return
	file=$(echo "$mnt"/*.gguf)
	read -r offset size < <(awk '$1 == "blk.40.ffn_up_exps.weight" { print $6, $7 }' "$TMP/plan")
	check "scale: the plan tells where 256 experts lie" test "$size" = $((256 * 2048 * 7168 * 2)) || return
	for at in 3 100 255; do
		before=$(bytes_read "$pid")
		check "scale: a page of expert $at is read" test "$(dd if="$file" bs=4096 count=1 iflag=direct status=none \
			skip=$(((offset + size / 256 * at + size / 512) / 4096)) | wc -c)" = 4096
		within "source bytes read for a page of expert $at" $(($(bytes_read "$pid") - before)) $((512 << 10)) bytes
	done
	within "memory of the daemon that read them" "$(peak_kib "$pid")" $read_limit_kib KiB
	check "scale: it unmounts" unmount "$mnt"
}

big_mount() {
	local mnt=$TMP/big start ms sum want
	want=$(awk -F'\t' '$2 == "outtype=q8_0" { print $5 }' "$ROOT/tests/data/big.tsv")
	mounted "$mnt" outtype=q8_0 || return
	start=$(date +%s%N)
	sum=$(sha256sum "$mnt"/*.gguf | cut -d' ' -f1)
	ms=$((($(date +%s%N) - start) / 1000000))
	note "== read and hashed $(stat -c %s "$mnt"/*.gguf) bytes of q8_0 in $ms ms, peak $(peak_kib "$pid") KiB"
	check "scale: the 0.6 GB file read through the mount is exact" test "$sum" = "$want"
	within "memory of the daemon that served it" "$(peak_kib "$pid")" $read_limit_kib KiB
	check "scale: it unmounts" unmount "$mnt"
}

big_tokenizer
model=$("$MKMODEL" --sparse-671b "$TMP")
sparse_plan "671B parameters in FP8, 61 layers of 256 experts" "${SCALE_PLAN_MS:-3000}" $((500 * 1024)) \
	'blk.60.ffn_down_exps.weight'
fuse_missing >/dev/null || expert_reads
rm -rf "$model"
model=$("$MKMODEL" --sparse-1tb "$TMP")
sparse_plan "1 TB in 46,623 tensors" "$plan_limit_ms" $plan_limit_kib 'blk.59.ffn_down_exps.weight'
if why=$(fuse_missing); then
	skipped "scale: mounts" "$why"
	exit
fi
sparse_mount
rm -rf "$model"
if (($(df --output=avail -k "$TMP" | tail -n 1) < 2000000)); then
	skipped "scale: memory of a mount of 1.2 GB" "less than 2 GB free in $TMP"
	exit
fi
model=$("$MKMODEL" --big "$TMP")
big_mount
