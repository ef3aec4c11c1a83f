#!/bin/bash
# Suites on a build with sanitizers: sanitized.sh BUILD SUITE... What a sanitizer finds in any process, also in a
# daemon without a terminal, is written to a file and makes this fail.
cd "$(dirname "$0")/.." || exit 1
export BUILD=$1
shift
reports=$(realpath "$BUILD")/reports
rm -rf "$reports"
mkdir -p "$reports"
common="log_path=$reports/r:exitcode=99:print_stacktrace=1"
export ASAN_OPTIONS="$common:detect_leaks=1:allocator_may_return_null=1" UBSAN_OPTIONS="$common"
export TSAN_OPTIONS="$common:halt_on_error=0:suppressions=$PWD/tests/tsan.supp"
export SANITIZED=1 ZOO_QUICK=1 PARALLEL_READS=150

# Without address randomisation: the thread sanitizer of gcc 12 does not know kernels with 32 random bits.
setarch -R tests/run.sh "$@"
status=$?
for report in "$reports"/*; do
	[[ -s $report ]] || continue
	head -n 60 "$report"
	status=1
done
((status)) || echo "no report of a sanitizer"
exit $status
