#!/bin/bash
# Draws the table of bench.sh as SVG: plot.sh BENCH.TSV. Two bars a row, the longer one full.
exec awk -F'\t' '
function esc(s) {
	gsub(/&/, "\\&amp;", s)
	gsub(/</, "\\&lt;", s)
	return s
}
function bar(y, share, colour, text) {
	printf "<rect x=\"330\" y=\"%d\" width=\"%.1f\" height=\"11\" fill=\"%s\"/>", y, 330 * share, colour
	printf "<text x=\"%.1f\" y=\"%d\">%s</text>\n", 336 + 330 * share, y + 10, esc(text)
}
$2 + 0 > 0 && $3 + 0 > 0 {
	n++
	what[n] = $1; a[n] = $2; b[n] = $3; unit[n] = $4; peer[n] = $5
	sub(/^s /, "", unit[n])
}
END {
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"960\" height=\"%d\" ", 34 * n + 20
	print "font-family=\"sans-serif\" font-size=\"11\">"
	print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
	for (i = 1; i <= n; i++) {
		y = 34 * i - 20
		max = a[i] + 0 > b[i] + 0 ? a[i] : b[i]
		printf "<text x=\"322\" y=\"%d\" text-anchor=\"end\">%s</text>\n", y + 15, esc(what[i])
		bar(y, a[i] / max, "#2b6cb0", a[i] " " unit[i])
		bar(y + 12, b[i] / max, "#b0b0b0", b[i] " " unit[i] ", " peer[i])
	}
	print "</svg>"
}' "$1"
