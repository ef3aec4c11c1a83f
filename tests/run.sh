#!/bin/bash
# Runs suites (tests/suites/NAME.sh, each prints TAP) and counts: run.sh NAME...
# Shows what failed and one line a suite (V=1: everything); logs are in $BUILD/check/. The last line is
# "N passed, N failed, N skipped"; the exit status is 1 when any test failed.
. "$(dirname "$0")/lib.bash"
export BUILD

logs=$BUILD/check
mkdir -p "$logs"
passed=0 failed=0 skipped=0

# Failures with their "#" lines, or all of it.
shown() {
	if [[ ${V:-0} == 1 ]]; then
		cat
	else
		awk '/^not ok/ { bad = 1 } /^ok/ { bad = 0 } /^# == / || /^not ok/ || (bad && /^#/) { print; fflush() }'
	fi
}

run_suite() {
	local name=$1 log=$logs/$1.log start=$SECONDS status good bad skips
	timeout -k 30 "${LIMIT:-1200}" bash "$ROOT/tests/suites/$name.sh" 2>&1 </dev/null | tee "$log" | shown
	status=${PIPESTATUS[0]}
	bad=$(grep -c '^not ok' "$log")
	skips=$(grep -c '^ok.*# [Ss][Kk][Ii][Pp]' "$log")
	good=$(($(grep -c '^ok' "$log") - skips))
	if ((status == 124 || status == 137 || status && !bad)); then
		((bad++))
		echo "not ok - $name ended with status $status after $((SECONDS - start)) s; the end of $log:"
		tail -n 20 "$log" | sed 's/^/# /'
	fi
	printf '%-10s %4d passed, %d failed, %d skipped (%d s)\n' "$name" "$good" "$bad" "$skips" $((SECONDS - start))
	((passed += good, failed += bad, skipped += skips))
}

for name; do
	run_suite "$name"
done
grep -h '# SKIP' "$logs"/*.log 2>/dev/null | sed 's/.*# SKIP/skipped:/' | sort | uniq -c | sort -rn | head -n 10
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
