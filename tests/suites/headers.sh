# Every header compiles alone: the public ones in C and C++, all others in C.
. "$(dirname "$0")/../lib.bash"
cd "$ROOT" || exit 1
scratch

CC=${CC:-cc} CXX=${CXX:-c++}
flags=(-D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DPCRE2_CODE_UNIT_WIDTH=8 -I. -Iinclude -Wall -Wextra -Werror -fsyntax-only)
read -ra packages < <(pkg-config --cflags fuse3 libcjson liblz4 libpcre2-8 libutf8proc libprotobuf-c yaml-0.1 libcrypto libxxhash)

for header in include/hfgguf/*.h; do
	echo "#include \"${header#include/}\"" >"$TMP/one.c"
	check "headers: $header in C11" $CC -std=c11 -pedantic -Iinclude -Wall -Wextra -Werror -fsyntax-only "$TMP/one.c"
	if command -v "$CXX" >/dev/null; then
		check "headers: $header in C++" $CXX -x c++ -std=c++11 -pedantic -Iinclude -Wall -Wextra -Werror -fsyntax-only "$TMP/one.c"
	else
		skipped "headers: $header in C++" "no $CXX"
	fi
done
alone() {
	local header bad=0 tier
	for header in core/*/*.h core/*/*/*.h fs/*.h; do
		[[ $header == */list.h ]] && continue
		tier=()
		case $header in
		*neon*) [[ $(uname -m) == aarch64 ]] || continue ;;
		*avx512*) [[ $(uname -m) == x86_64 ]] || continue
			tier=(-mavx512f -mavx512bw -mavx512dq -mavx512vl -mf16c) ;;
		*avx2* | *lane*) [[ $(uname -m) != x86_64 ]] || tier=(-mavx2 -mf16c) ;;
		esac
		echo "#include \"$header\"" >"$TMP/one.c"
		$CC -std=gnu11 "${flags[@]}" "${packages[@]}" "${tier[@]}" -Wno-unused "$TMP/one.c" || bad=1
	done
	return $bad
}
check "headers: every inner header compiles alone" alone
