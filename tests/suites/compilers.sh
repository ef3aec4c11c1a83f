# The program builds without a warning with gcc and with clang.
. "$(dirname "$0")/../lib.bash"
cd "$ROOT" || exit 1

for cc in gcc clang; do
	if command -v $cc >/dev/null; then
		check "compilers: $cc gives no warning" make -s -k -j"$(nproc)" BUILD="$BUILD/with-$cc" CC=$cc CFLAGS=-Werror LDFLAGS= all
	else
		skipped "compilers: $cc gives no warning" "no $cc"
	fi
done
