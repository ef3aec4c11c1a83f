# What `make install` puts where, and that `make uninstall` takes all of it away.
. "$(dirname "$0")/../lib.bash"
cd "$ROOT" || exit 1
scratch

mk() { make -s BUILD="$BUILD" "$@"; }

installed() {
	local want missing=0
	for want in "$@"; do
		[[ -e $want || -L $want ]] || { echo "missing: $want"; missing=1; }
	done
	return $missing
}

nothing_left() {
	local left
	left=$(find "$1" ! -type d)
	[[ -z $left ]] || { echo "$left"; return 1; }
}

# A program built against the installed library alone.
links() {
	local root=$1 libdir=$2
	cat >"$TMP/use.c" <<-'C'
	#include <hfgguf/hfgguf.h>
	#include <stdio.h>
	int main(void) { puts(hfgguf_version()); return 0; }
	C
	export PKG_CONFIG_PATH=$root$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
	${CC:-cc} $(pkg-config --cflags libhfgguf) -o "$TMP/use" "$TMP/use.c" $(pkg-config --libs libhfgguf) || return 1
	[[ $(LD_LIBRARY_PATH=$root$libdir "$TMP/use") == "$(pkg-config --modversion libhfgguf)" ]]
}

narrow() {
	local wide
	wide=$("$@" 2>"$TMP/err" | grep -E '^.{81,}')
	[[ -z $wide && ! -s $TMP/err ]] || { echo "$wide"; cat "$TMP/err"; return 1; }
}

# Every command and option heads an entry of a man page.
documented() {
	local name missing=0 entries
	entries=$(grep -h '^\.It ' contrib/man/*.[18] | tr ' ' '\n')
	for name in $("$HFGGUF" options | cut -f1) $("$HFGGUF" help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
		grep -qxF -- "$name" <<<"$entries" || { echo "in no man page: $name"; missing=1; }
	done
	return $missing
}

d=$TMP/default
check "install: DESTDIR with default folders" mk install DESTDIR="$d"
check "install: the files are there" installed "$d"/usr/local/bin/hfgguf "$d"/sbin/mount.hfgguf "$d"/usr/local/lib/libhfgguf.{a,so,so.0} \
	"$d"/usr/local/include/hfgguf/hfgguf.h "$d"/usr/local/lib/pkgconfig/libhfgguf.pc
check "install: the installed program runs" "$d"/usr/local/bin/hfgguf --version
check "install: mount.hfgguf leads to it" test "$(readlink "$d"/sbin/mount.hfgguf)" = /usr/local/bin/hfgguf
check "install: a program builds against the library" links "$d" /usr/local/lib
check "install: uninstall with default folders" mk uninstall DESTDIR="$d"
check "install: uninstall leaves nothing" nothing_left "$d"

d="$TMP/with space"
dirs=(PREFIX=/usr BINDIR=/opt/b LIBDIR=/opt/l INCLUDEDIR=/opt/i MANDIR=/opt/m MOUNTHELPERDIR=/opt/s PKGCONFIGDIR=/opt/p
	BASHCOMPDIR=/opt/c DOCDIR=/opt/d)
check "install: every folder can be chosen" mk install DESTDIR="$d" "${dirs[@]}"
check "install: the files are in the chosen folders" installed "$d"/opt/b/hfgguf "$d"/opt/s/mount.hfgguf "$d"/opt/l/libhfgguf.a \
	"$d"/opt/i/hfgguf/hfgguf.h "$d"/opt/p/libhfgguf.pc
check "install: nothing outside them" test ! -e "$d/usr"
check "install: uninstall from the chosen folders" mk uninstall DESTDIR="$d" "${dirs[@]}"
check "install: uninstall leaves nothing there" nothing_left "$d"

check "install: --help is at most 80 columns wide, on stdout" narrow "$HFGGUF" --help
check "install: every command and option is in a man page" documented
for page in contrib/man/*.[18]; do
	if [[ ! -e $page ]]; then
		continue
	elif command -v mandoc >/dev/null; then
		check "install: $page is clean for mandoc" mandoc -T lint -W warning "$page"
	else
		skipped "install: $page" "no mandoc"
	fi
done
