#!/bin/bash
# run.sh FOLDER SECONDS [TARGET...]: runs the fuzz targets that `make fuzz` built, each for that long, from a corpus that
# is kept in FOLDER/corpus. What breaks one is left in FOLDER/found; the exit status is 1 then.
here=$(cd "$(dirname "$0")" && pwd)
folder=$(realpath "$1") seconds=$2
shift 2
status=0
(($#)) || set -- "$here"/*.c

mkdir -p "$folder/found"
for target; do
	name=$(basename "$target" .c)
	corpus=$folder/corpus/$name
	[[ -d $corpus ]] || python3 "$here/seeds.py" "$name" "$folder/tests/fixtures" "$corpus" || exit
	dict=$here/$name.dict
	echo "$name: $seconds s, log in $folder/$name.log"
	if ! "$folder/fuzz/$name" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
		-artifact_prefix="$folder/found/$name-" ${dict:+$([[ -f $dict ]] && echo "-dict=$dict")} "$corpus" \
		>"$folder/$name.log" 2>&1; then
		tail -n 40 "$folder/$name.log"
		status=1
	fi
	grep -E 'number_of_executed_units|average_exec_per_sec' "$folder/$name.log"
done
exit $status
