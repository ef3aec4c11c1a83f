/* The table of all rows, and looking a class up in it. */
#include "core/arch/arch.h"

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

/* Length of the common beginning plus that of the common end. */
static size_t likeness(const char *a, size_t na, const char *b, size_t nb)
{
	size_t head = 0, tail = 0, n = na < nb ? na : nb;

	while (head < n && a[head] == b[head])
		head++;
	while (tail < n - head && a[na - 1 - tail] == b[nb - 1 - tail])
		tail++;
	return 2 * head + tail;
}

const char *arch_nearest(const char *hf_class)
{
	static _Thread_local char best[128];
	size_t most = 0;

	best[0] = 0;
	for (size_t i = 0; arch_rows[i]; i++)
		for (const char *w = arch_rows[i]->classes; *w;) {
			size_t n = strcspn(w, " "), like = likeness(hf_class, strlen(hf_class), w, n);

			if (like > most && n < sizeof(best)) {
				most = like;
				memcpy(best, w, n);
				best[n] = 0;
			}
			w += n + strspn(w + n, " ");
		}
	return best;
}
