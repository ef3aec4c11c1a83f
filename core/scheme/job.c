/* Helpers for the functions that rewrite the tensor set. */
#include "core/scheme/parts.h"

#include <stdio.h>
#include <string.h>

const char *job_name(struct job *j, const char *name, size_t cut, const char *tail)
{
	const char *s = arena_printf(j->b->arena, "%.*s%s", (int)(strlen(name) - cut), name, tail);

	if (!s)
		err_nomem(j->err);
	return s;
}

/* Looked up without leaving a copy behind: a large model asks for a million names. */
static const struct tensor *find(struct job *j, const char *name, const char *suffix, const char *tail, char *out,
				 size_t size)
{
	int n = snprintf(out, size, "%.*s%s", (int)(strlen(name) - strlen(suffix)), name, tail);

	return n < 0 || (size_t)n >= size ? NULL : set_get(j->set, out);
}

const struct tensor *job_sibling(struct job *j, const char *name, const char *suffix, const char *tail)
{
	char full[1024];

	return find(j, name, suffix, tail, full, sizeof(full));
}

const struct tensor *job_need(struct job *j, const char *name, const char *suffix, const char *tail)
{
	char full[1024];
	const struct tensor *t = find(j, name, suffix, tail, full, sizeof(full));

	if (!t)
		err_set(j->err, HFGGUF_NOT_FOUND, "tensor %s is not there, but %s is; the checkpoint is incomplete",
			full, name);
	return t;
}

int job_put_at(struct job *j, const char *old, const char *name, const struct tensor *t)
{
	if (j->err->code && name && !str_starts(j->err->msg, "tensor "))
		err_prefix(j->err, "tensor %s", name);
	if (!j->err->code && (!t || !name || !set_replace(j->set, old, name, t)))
		err_nomem(j->err);
	return j->err->code;
}

int job_put(struct job *j, const char *name, const struct tensor *t)
{
	return job_put_at(j, "", name, t);
}

void job_remove(struct job *j, const char *name)
{
	set_remove(j->set, name);
}

static bool ends_in(const char *name, const char *words)
{
	size_t len = strlen(name);

	for (const char *w = words; *w;) {
		size_t n = strcspn(w, " ");

		if (len >= n && !memcmp(name + len - n, w, n))
			return true;
		w += n + strspn(w + n, " ");
	}
	return false;
}

void job_drop_unused(struct job *j, const char *endings)
{
	const char *first = NULL;
	size_t n = 0;

	job_for(j, name, t) {
		if (!ends_in(name, endings))
			continue;
		first = first ? first : name;
		n++;
		if (!vec_push(&j->out->unused, name))
			err_nomem(j->err);
		job_remove(j, name);
	}
	if (n)
		job_note(j, "%zu scales of activations are not used (%s%s)", n, first, n > 1 ? ", …" : "");
}

void job_remove_siblings(struct job *j, const char *name, const char *suffix, const char *words)
{
	char full[1024], tail[64];

	for (const char *w = words; *w;) {
		size_t n = strcspn(w, " ");

		snprintf(tail, sizeof(tail), "%.*s", (int)n, w);
		if (find(j, name, suffix, tail, full, sizeof(full)))
			set_remove(j->set, full);
		w += n + strspn(w + n, " ");
	}
}

int job_q8(struct job *j, const char *name)
{
	if (name && j->out->in.fp8_as_q8 && !map_set(&j->out->q8, name, strlen(name), 1))
		return err_nomem(j->err);
	return j->err->code;
}

void job_note(struct job *j, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	const char *joined;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	joined = j->out->note ? arena_printf(j->b->arena, "%s\n%s", j->out->note, text)
			      : arena_strdup(j->b->arena, text);
	if (joined)
		j->out->note = joined;
}

int job_refuse(struct job *j, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(j->err, HFGGUF_UNSUPPORTED, "config.json: %s; use the unquantized checkpoint", text);
}
