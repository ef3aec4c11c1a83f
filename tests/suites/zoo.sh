# The fixture models: every file against the sha256 of the reference's.
#
#   zoo.sh [--only REGEX] [--waves 1,2] [--quick]      ZOO_WAVES, ZOO_QUICK, ZOO_JOBS
#
# Runs of the given waves must be exact; of the others the count is printed. A run's wave is its model's (fifth column of
# models.tsv), but that of projectors is always 3, that of adapters a, and that of wave 3's text files t.
# --quick: only these waves, and of the plain types only q8_0 (for slow builds).
. "$(dirname "$0")/../lib.bash"

tables=$ROOT/tests/data

# Prints an "F" line: exact files and files, of the waves and of all; then what differs (1: of the waves).
run_model() {
	local model=$1 wave=$2 tree=$3 dir last='' have='' opts file size sha need
	local good=0 total=0 all_good=0 all_total=0 work lines=''
	work=$(mktemp -d "$TMP/XXXXXX")
	dir=$("$MKMODEL" "$FIXTURES/specs/$model.json" "$work")
	if [[ $(tree_hash "$dir") != "$tree" ]]; then
		lines+="X mkmodel makes other files than the specification says"$'\n'
	fi
	while IFS=$'\t' read -r opts file size sha; do
		need=0
		wave_of_run "$wave" "$opts"
		[[ ,$waves, == *,$run_wave,* ]] && need=1
		if [[ $quick ]] && { ((!need)) || [[ $opts =~ ^outtype=(f32|f16|bf16)$ ]]; }; then
			continue
		fi
		if [[ $opts != "$last" ]]; then
			have=$(sums "$dir" "${opts//@/$dir}" "$work/err")
			last=$opts
		fi
		((all_total++, total += need))
		if grep -q -- "^$sha  " <<<"$have" && { [[ $file == - ]] || grep -Fxq -- "$sha  $file" <<<"$have"; }; then
			((all_good++, good += need))
		else
			lines+="$need $opts: ${have:+differs}$([[ $have ]] || tail -n 1 "$work/err" | cut -c1-300)"$'\n'
		fi
	done < <(awk -F'\t' -v m="$model" '$1 == m { print $2 "\t" $3 "\t" $4 "\t" $5 }' "$tables/golden.tsv")
	rm -rf "$work"
	printf '%s\tF\t%d\t%d\t%d\t%d\n' "$model" $good $total $all_good $all_total
	printf '%s' "$lines" | head -n 10 | sed "s/^/$model\t/; s/ /\t/"
}

wave_of_run() { # WAVE OPTIONS: sets $run_wave
	case ,$2, in
	*,mmproj,*) run_wave=3 ;;
	*,base=*) run_wave=a ;;
	*) run_wave=${1/3/t} ;;
	esac
}

sums() {
	local hub=() out status
	[[ -d $1/hub ]] && hub=(HF_HUB_CACHE="$1/hub")
	out=$(cd "$FIXTURES/extra" && env "${hub[@]}" timeout 600 "$HFGGUF" sum "$1" -o "$2" 2>"$3")
	status=$?
	((status)) || printf '%s' "$out"
	((status < 124)) || echo "ended with status $status" >>"$3"
}

tree_hash() {
	(cd "$1" && find . -type f | LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum | sha256sum | cut -d' ' -f1)
}

if [[ $1 == --model ]]; then # a worker of the xargs below
	run_model "$2" "$3" "$4" >"$TMP/out.$2"
	cat "$TMP/out.$2" # in one write, so that lines of two workers do not mix
	exit
fi

only=. waves=${ZOO_WAVES:-1,2,3,t,s,q} quick=${ZOO_QUICK:-}
while (($#)); do
	case $1 in
	--only) only=$2; shift ;;
	--waves) waves=$2; shift ;;
	--quick) quick=1 ;;
	*) echo "zoo.sh: unknown argument $1" >&2; exit 2 ;;
	esac
	shift
done
if [[ ! -x $HFGGUF || ! -x $MKMODEL || ! -d $FIXTURES/specs ]]; then
	not_ok "zoo: $BUILD has no programs and fixtures: make programs"
	exit 1
fi
scratch
export TMP waves quick

awk -F'\t' -v only="$only" '$1 ~ only { print $1; print $5; print $6 }' "$tables/models.tsv" |
	xargs -d '\n' -n 3 -P "${ZOO_JOBS:-2}" bash "$0" --model |
	awk -F'\t' -v waves="$waves" '
	$2 == "F" {
		models++; good += $3; total += $4; all_good += $5; all_total += $6; whole += $5 == $6
		if ($4)
			print ($3 == $4 ? "" : "not ") "ok - zoo: " $1 ": " $3 " of " $4 " exact"; fflush()
	}
	$2 == "X" { print "not ok - zoo: " $1 ": " $3 }
	$2 == 1 { print "#   " $3 }
	$2 == 0 { print "  (" $1 " " $3 ")" }
	END {
		if (!total)
			print "not ok - zoo: no model was checked"
		print "# == zoo, waves " waves ": " good " of " total " exact"
		print "# == whole zoo: models wholly exact: " whole " of " models "; " all_good " of " all_total " exact"
	}'
