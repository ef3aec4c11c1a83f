#include "core/scheme/targets.h"

#include "core/util/str.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

struct targets {
	struct map names;
	pcre2_code **patterns;
	size_t n_patterns;
	bool has_class;
	pcre2_match_data *match;
};

static int compile(const char *pattern, pcre2_code **out, struct err *err)
{
	int code;
	PCRE2_SIZE at;

	*out = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_ANCHORED, &code, &at, NULL);
	return *out ? 0
		    : err_set(err, HFGGUF_UNSUPPORTED,
			      "config.json: the pattern \"%s\" of a quantization cannot be read", pattern);
}

int targets_new(const json *list, struct targets **out, struct err *err)
{
	size_t n = json_count(list);
	struct targets *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return err_nomem(err);
	t->patterns = calloc(n + 1, sizeof(*t->patterns));
	t->match = pcre2_match_data_create(1, NULL);
	if (!t->patterns || !t->match)
		return err_nomem(err);
	json_for(v, list) {
		const char *s = json_str(v);

		if (s && str_starts(s, "re:")) {
			if (compile(s + 3, &t->patterns[t->n_patterns], err))
				return err->code;
			t->n_patterns++;
		} else if (s) {
			if (!map_set(&t->names, s, strlen(s), 1))
				return err_nomem(err);
			/* "Linear" is a class, "lm_head" may be both for all that we know */
			t->has_class |= !strchr(s, '.');
		}
	}
	return 0;
}

void targets_free(struct targets *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_patterns; i++)
		pcre2_code_free(t->patterns[i]);
	free(t->patterns);
	map_free(&t->names);
	pcre2_match_data_free(t->match);
	free(t);
}

int targets_match(const struct targets *t, const char *module, size_t len)
{
	if (map_find(&t->names, module, len))
		return 3;
	for (size_t i = 0; i < t->n_patterns; i++)
		if (pcre2_match(t->patterns[i], (PCRE2_SPTR)module, len, 0, 0, t->match, NULL) >= 0)
			return 2;
	return t->has_class;
}
