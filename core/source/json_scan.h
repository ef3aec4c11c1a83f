/*
 * The pass before cJSON: rewrites a JSON text in place into one that cJSON reads without loss.
 *
 *     "a\u0000b"      the two bytes C0 80 instead of the escape: cJSON would end the string there
 *     "\ud800"        the three bytes ED A0 80 (WTF-8), as Python keeps a lone surrogate; cJSON would refuse
 *     -12, 1e3, NaN   "0"; the value goes to a list, in the order of the text, and back into the tree afterwards
 *
 * Whatever cJSON tolerates and Python's json module does not (control characters in strings, "01", "1.", text that is
 * not UTF-8) is refused here; the grammar between the tokens is cJSON's business.
 */
#ifndef CORE_SOURCE_JSON_SCAN_H
#define CORE_SOURCE_JSON_SCAN_H

#include "core/util/err.h"
#include "core/util/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum { JSON_MAX_DEPTH = 512 };

struct json_number {
	bool is_int; /* no fraction, no exponent, in the range of int64 */
	union {
		int64_t i;
		double d;
	};
};

struct json_numbers {
	VEC(struct json_number) list;
};

/* text[n] must be NUL. *out_len is the new length (never longer), with a NUL behind it. The caller frees
 * numbers->list also on failure. */
int json_scan(char *text, size_t n, const char *what, size_t *out_len, struct json_numbers *numbers, struct err *err);

#endif
