# Unit tests: each tests/unit/*.c is a program of its own.
. "$(dirname "$0")/../lib.bash"

for test in "$ROOT"/tests/unit/*.c; do
	name=$(basename "$test" .c)
	out=$(cd "$ROOT" && timeout -k 5 300 "$TOOLS/unit/$name" 2>&1)
	status=$?
	sed -E "s/^(not )?ok( [0-9]+)?( - )?/\1ok - $name: /" <<<"$out"
	if ((status)) && ! grep -q '^not ok' <<<"$out"; then
		not_ok "$name ends with status $status"
		note "$out" | tail -n 20
	fi
done
