# What grep can say about style.
. "$(dirname "$0")/../lib.bash"
cd "$ROOT" || exit 1

mapfile -t code < <(find core fs include tests -name '*.[ch]' | sort)
mapfile -t text < <(find . -path ./.git -prune -o -path './build*' -prune -o -type f \
	\( -name '*.[ch]' -o -name '*.sh' -o -name '*.bash' -o -name '*.bats' -o -name '*.py' -o -name '*.m?js' -o -name '*.md' \
	-o -name '*.[18]' -o -name Makefile \) -print | sort)

# none DESCRIPTION LINES: fails when there are lines.
none() {
	if [[ $2 ]]; then
		not_ok "style: $1"
		note "$2" | head -n 30
	else
		ok "style: $1"
	fi
}

long_files() {
	for f in "${code[@]}"; do
		n=$(wc -l <"$f")
		((n <= 600)) || head -n 12 "$f" | grep -qiE 'table|facts' || echo "$f: $n lines"
	done
}

wide_lines() {
	for f in "${code[@]}"; do
		expand -t 8 "$f" | grep -nP '^.{121,}' | sed "s|^\([0-9]*\):.*|$f:\1|"
	done
}

none "no file over 600 lines but tables" "$(long_files)"
none "no line over 120 columns" "$(wide_lines)"
none "tabs indent" "$(grep -nE '^ {8}' "${code[@]}")"
none "no trailing white space, no CR" "$(grep -nP '[ \t\r]+$' "${text[@]}")"
none "every file ends with a newline" "$(for f in "${text[@]}"; do [[ $(tail -c1 "$f") ]] && echo "$f"; done)"
none "headers have guards (a list.h is included more than once)" "$(for f in "${code[@]}"; do
	[[ $f != *.h || $f == */list.h ]] || grep -q '^#ifndef [A-Z0-9_]*_H$' "$f" || grep -q '^#pragma once' "$f" || echo "$f"; done)"
none "no notes of work left" "$(grep -nE '\b(TODO|FIXME|XXX|HACK)\b' "${code[@]}")"
none "no paths of a machine" "$(grep -nE '(^|[^A-Za-z0-9._$}-])/(root|home/[a-z]+|work|tmp/ref)/' "${text[@]}" | grep -v tests/suites/style.sh)"
none "no // comments" "$(grep -nE '^[[:space:]]*//|;[[:space:]]*//' "${code[@]}")"
