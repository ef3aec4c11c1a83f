#!/bin/bash
# readme.sh [--check]: renews the table of architectures in README.md from `hfgguf archs`, or tells whether it is stale.
cd "$(dirname "$0")/.." || exit 1
set -o pipefail
HFGGUF=${HFGGUF:-${BUILD:-build}/hfgguf}

# Rows of the same GGUF architecture are one; the option's row is no class.
table() {
	"$HFGGUF" archs | LC_ALL=C sort -t $'\t' -k1,1 -s | awk -F'\t' '
	function put() {
		if (arch != "")
			rows = rows "| " arch " | " classes " |\n"
	}
	$2 == "mistral-format" { next }
	$1 != arch { put(); arch = $1; classes = ""; n_arch += arch != "clip" }
	{ classes = classes (classes == "" ? "" : " ") $2; n = split($2, w, " ") }
	$1 == "clip" { n_media += n; next }
	{ n_classes += n }
	END {
		put()
		printf "<details><summary>%d architectures, %d classes; projectors (clip) of %d</summary>\n\n", \
			n_arch, n_classes, n_media
		printf "| GGUF | Hugging Face classes |\n|---|---|\n%s\n</details>\n", rows
	}'
}

renewed() {
	awk -v table="$table" '
	/^<!-- made by contrib\/readme.sh -->$/ { print; print table; skip = 1; seen++; next }
	/^<!-- end -->$/ { skip = 0; seen++ }
	!skip
	END { exit seen != 2 }' README.md
}

table=$(table) && new=$(renewed) || { echo "readme.sh: no hfgguf, or no marks in README.md" >&2; exit 1; }
if [[ $1 == --check ]]; then
	diff -u README.md - <<<"$new"
else
	printf '%s\n' "$new" >README.md
fi
