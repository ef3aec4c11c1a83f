#include "core/vocab/tok.h"

#include "core/vocab/tok_regex.h"
#include "core/vocab/tok_unicode.h"

static bool add_match(struct tok_run *r, size_t start, size_t end, bool hit)
{
	struct tok_match m = { start, end, hit };

	return vec_push(&r->matches, m) || (err_nomem(r->err), false);
}

bool tok_match_regex(struct tok_run *r, const struct tok_regex *re, const char *p, size_t n)
{
	struct tok_find f = { .p = p, .n = n };
	size_t done = 0;
	int rc;

	r->matches.n = 0;
	while ((rc = tok_find_next(re, r->matcher, &f, r->err)) > 0) {
		if (f.start > done && !add_match(r, done, f.start, false))
			return false;
		if (!add_match(r, f.start, f.end, true))
			return false;
		done = f.end;
	}
	return rc == 0 && (done == n || add_match(r, done, n, false));
}

bool tok_match_chars(struct tok_run *r, bool (*is)(uint32_t cp, const void *ctx), const void *ctx, const char *p,
		     size_t n)
{
	size_t done = 0, at = 0;

	r->matches.n = 0;
	while (at < n) {
		uint32_t cp = 0;
		size_t k = (size_t)utf8_next(p + at, p + n, &cp);

		if (!k)
			break;
		if (is(cp, ctx)) {
			if (done < at && !add_match(r, done, at, false))
				return false;
			if (!add_match(r, at, at + k, true))
				return false;
			done = at + k;
		}
		at += k;
	}
	return done == n || add_match(r, done, n, false);
}

bool tok_keep(struct tok_run *r, const struct tok_split *from, size_t start, size_t end)
{
	struct tok_split s = { from->p + start, end - start, start < from->zero ? from->zero - start : 0, -1 };

	if (start == end)
		return true;
	if (s.zero > s.n)
		s.zero = s.n;
	return vec_push(&r->out, s) || (err_nomem(r->err), false);
}

/* Runs of matches, and of what lies between, each in one piece. */
static bool keep_contiguous(struct tok_run *r, const struct tok_split *s, bool invert)
{
	const struct tok_match *m = r->matches.v;

	for (size_t i = 0, j; i < r->matches.n; i = j) {
		/* The library starts out as if a non-match had come before. */
		bool hit = m[i].hit != invert;

		for (j = i + 1; j < r->matches.n && (m[j].hit != invert) == hit; j++)
			;
		if (!tok_keep(r, s, m[i].start, m[j - 1].end))
			return false;
	}
	return true;
}

/* A match joins what came before it, unless that was a match too. */
static bool keep_with_previous(struct tok_run *r, const struct tok_split *s, bool invert)
{
	const struct tok_match *m = r->matches.v;

	for (size_t i = 0, j; i < r->matches.n; i = j) {
		bool hit = m[i].hit != invert;

		j = i + 1;
		if (!hit && j < r->matches.n && m[j].hit != invert)
			j++;
		if (!tok_keep(r, s, m[i].start, m[j - 1].end))
			return false;
	}
	return true;
}

/* The same from the other end: of two matches in a row the second joins what follows. */
static bool keep_with_next(struct tok_run *r, const struct tok_split *s, bool invert)
{
	const struct tok_match *m = r->matches.v;

	for (size_t i = 0, j; i < r->matches.n; i = j) {
		bool hit = m[i].hit != invert;

		j = i + 1;
		if (hit && j < r->matches.n && m[j].hit == invert)
			j++;
		if (!tok_keep(r, s, m[i].start, m[j - 1].end))
			return false;
	}
	return true;
}

bool tok_split_matches(struct tok_run *r, const struct tok_split *s, enum tok_behavior behavior, bool invert)
{
	switch (behavior) {
	case SPLIT_CONTIGUOUS:
		return keep_contiguous(r, s, invert);
	case SPLIT_MERGED_PREVIOUS:
		return keep_with_previous(r, s, invert);
	case SPLIT_MERGED_NEXT:
		return keep_with_next(r, s, invert);
	default:
		break;
	}
	for (size_t i = 0; i < r->matches.n; i++) {
		const struct tok_match *m = &r->matches.v[i];

		if (behavior == SPLIT_REMOVED && m->hit != invert)
			continue;
		if (!tok_keep(r, s, m->start, m->end))
			return false;
	}
	return true;
}
