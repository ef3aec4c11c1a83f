/* The table of all rows, and looking a class up in it. */
#include "core/arch/arch.h"

#include <ctype.h>
#include <string.h>

#define ROW(name) extern const struct arch name;
#include "core/arch/models/list.h"
#undef ROW

#define ROW(name) &name,
const struct arch *const arch_rows[] = {
#include "core/arch/models/list.h"
	NULL
};
#undef ROW

const struct arch *arch_find(const char *hf_class)
{
	for (size_t i = 0; arch_rows[i]; i++)
		if (str_in(hf_class, arch_rows[i]->classes))
			return arch_rows[i];
	return NULL;
}

/* ---- the nearest ---- */

enum { MAX_STEM = 64 };

/* What behind a class's name says what it is used for, not what it is: "Phi4" of "Phi4ForCausalLMV". */
static const char *const endings[] = {
	"ForConditionalGeneration", "ForSequenceClassification", "ForMaskedLM", "ForCausalLM", "LMHeadModel", "Model",
};

/* Length of a class name in front of its ending. */
static size_t stem_of(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		for (size_t at = 1; at + strlen(endings[i]) <= n; at++)
			if (!strncasecmp(name + at, endings[i], strlen(endings[i])))
				return at;
	return n;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* What a character costs that another takes the place of; case costs nothing, another version of a model little. */
static size_t change(char a, char b)
{
	if ((a | 32) == (b | 32))
		return 0;
	return isdigit((unsigned char)a) && isdigit((unsigned char)b) ? 1 : 2;
}

/* Edits from a to b: characters put in and taken out at 2 each, and changed. */
static size_t edits(const char *a, size_t na, const char *b, size_t nb)
{
	size_t row[MAX_STEM + 1];

	for (size_t j = 0; j <= nb; j++)
		row[j] = 2 * j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = 2 * i;
		for (size_t j = 1; j <= nb; j++) {
			size_t up = row[j];

			row[j] = least(diagonal + change(a[i - 1], b[j - 1]), least(up, row[j - 1]) + 2);
			diagonal = up;
		}
	}
	return row[nb];
}

struct likeness {
	size_t edits;      /* of the stem; fewer is nearer */
	bool other_ending;
	const char *name;  /* the later of equals: Gemma4 rather than Gemma2 for Gemma5 */
	size_t n;
};

static bool nearer(const struct likeness *a, const struct likeness *b)
{
	int d;

	if (a->edits != b->edits)
		return a->edits < b->edits;
	if (a->other_ending != b->other_ending)
		return b->other_ending;
	d = strncmp(a->name, b->name, least(a->n, b->n));
	return d ? d > 0 : a->n > b->n;
}

const char *arch_nearest(const char *hf_class)
{
	static _Thread_local char out[128];
	size_t n = strlen(hf_class), stem = stem_of(hf_class, n);
	struct likeness best = { SIZE_MAX, true, "", 0 };

	for (size_t i = 0; arch_rows[i] && stem <= MAX_STEM; i++)
		for (const char *w = arch_rows[i]->classes; *w;) {
			size_t wn = strcspn(w, " "), ws = stem_of(w, wn);
			struct likeness one = { 0, true, w, wn };

			if (ws <= MAX_STEM && wn < sizeof(out)) {
				one.edits = edits(hf_class, stem, w, ws);
				one.other_ending = n - stem != wn - ws || strncasecmp(hf_class + stem, w + ws, wn - ws);
				if (nearer(&one, &best))
					best = one;
			}
			w += wn + strspn(w + wn, " ");
		}
	if (best.edits > stem)
		return NULL;
	memcpy(out, best.name, best.n);
	out[best.n] = 0;
	return out;
}
