# `make demo` as a new user runs it; the package of Python that it reads with comes from a cache after the first time.
. "$(dirname "$0")/../lib.bash"
cd "$ROOT" || exit 1

check "demo: it runs to its end" contrib/demo.sh
