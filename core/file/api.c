/*
 * The public API: opening a model, and what its files look like.
 *
 *	open ─┬─ no index= ─────────────────────► plan ─► faces
 *	      └─ index=DIR ─ identity ─┬─ known ─► faces    the plan follows, before the first weights are read
 *	                               └─ new ───► plan ─► faces ─► stored
 */
#include "core/file/model.h"

#include "core/file/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* An index of files that were changed so lately could miss a change within the clock's tick. */
#define SETTLED_NS 2000000000

const char *hfgguf_version(void)
{
	return HFGGUF_VERSION;
}

/* ---- faces ---- */

static int make_faces(struct hfgguf_model *m, struct faces *out, struct err *err)
{
	out->v = arena_array(m->arena, m->n_files + 1, sizeof(*out->v));
	if (!out->v)
		return err_nomem(err);
	for (size_t i = 0; i < m->n_files; i++) {
		const struct model_file *f = &m->files[i];
		const char *tensors = arena_printf(m->arena, "%zu", f->v.n_tensors);

		out->v[i] = (struct face){ .name = f->v.g->name, .type = f->p.type, .arch = f->p.kv->arch,
					   .class_name = f->p.conv->hf_arch, .tensors = tensors,
					   .size_bytes = f->v.g->size_bytes, .header = f->v.g->header };
		if (!tensors)
			return err_nomem(err);
	}
	out->n = m->n_files;
	out->mtime_ns = m->src->mtime_ns;
	return 0;
}

static bool same_header(const struct header *a, const struct header *b)
{
	uint64_t n = header_blocks(a);

	return a->size_bytes == b->size_bytes && a->at[n] == b->at[n] && !memcmp(a->data, b->data, a->at[n]);
}

static bool same_faces(const struct faces *a, const struct faces *b)
{
	if (a->n != b->n || a->mtime_ns != b->mtime_ns)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i].name, b->v[i].name) != 0 || a->v[i].size_bytes != b->v[i].size_bytes ||
		    !same_header(&a->v[i].header, &b->v[i].header))
			return false;
	return true;
}

/* ---- the plan ---- */

/* The plan behind faces that came from an index must come to the same. */
static int plan_late(struct hfgguf_model *m, struct err *err)
{
	struct faces faces = { NULL, 0, 0 };

	if (model_plan(m, err) || make_faces(m, &faces, err))
		return err->code;
	if (same_faces(&faces, &m->faces))
		return 0;
	return err_set(err, HFGGUF_IO, "%s: changed while it was being mounted: mount it again", m->path);
}

/* The model and files of options may be named from where it was opened, and a server has left that place. */
static void *plan_in_place(void *arg)
{
	struct hfgguf_model *m = arg;

	if (m->cwd >= 0 && !unshare(CLONE_FS) && fchdir(m->cwd))
		log_add(&m->log, "cannot go back to where the model was opened: %s", strerror(errno));
	(void)plan_late(m, &m->plan_err);
	return NULL;
}

/* A thread of its own, as its working directory is its own. */
static void plan_apart(struct hfgguf_model *m)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, plan_in_place, m))
		(void)plan_late(m, &m->plan_err);
	else
		pthread_join(thread, NULL);
	if (m->cwd >= 0)
		close(m->cwd);
	m->cwd = -1;
	if (m->plan_err.code)
		log_add(&m->log, "%s", m->plan_err.msg);
}

int model_ready(const struct hfgguf_model *model, struct err *err)
{
	struct hfgguf_model *m = (struct hfgguf_model *)model;

	if (!__atomic_load_n(&m->planned, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&m->plan_lock);
		if (!m->planned)
			plan_apart(m);
		__atomic_store_n(&m->planned, true, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&m->plan_lock);
	}
	return m->plan_err.code ? err_set(err, (enum hfgguf_status)m->plan_err.code, "%s", m->plan_err.msg) : 0;
}

static void *plan_ahead(void *arg)
{
	struct err err = ERR_INIT;

	(void)model_ready(arg, &err);
	return NULL;
}

/* ---- index ---- */

static int64_t now_ns(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_REALTIME, &t) ? 0 : t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* Only if nothing has changed meanwhile, and if all that was read is in the identity. */
static void keep_index(struct hfgguf_model *m, const struct identity *id)
{
	struct err err = ERR_INIT;
	struct identity now;

	if (identity_of(m->spec, m->options_text, &m->opt, &now, &err) || now.n != id->n ||
	    memcmp(now.text, id->text, id->n) || !identity_covers(id, m->src) ||
	    now_ns() - id->newest_ns < SETTLED_NS) {
		identity_free(&now);
		return;
	}
	identity_free(&now);
	if (!index_store(m->opt.index, id, &m->faces, &err))
		return;
	log_add(&m->log, "%s", err.msg);
	snprintf(m->warning, sizeof(m->warning), "%s", err.msg);
}

static int plan_now(struct hfgguf_model *m, struct err *err)
{
	if (model_plan(m, err) || make_faces(m, &m->faces, err))
		return err->code;
	m->path = source_asked(m->src)->path;
	m->planned = true;
	return 0;
}

static int open_indexed(struct hfgguf_model *m, struct err *err)
{
	struct err none = ERR_INIT;
	struct identity id;

	if (identity_of(m->spec, m->options_text, &m->opt, &id, &none)) { /* planning tells better what is wrong */
		identity_free(&id);
		return plan_now(m, err);
	}
	m->path = arena_strdup(m->arena, id.dir);
	if (!m->path)
		err_nomem(err);
	else if (!index_check_dir(m->opt.index, id.dir, err) && !index_load(m->opt.index, &id, &m->faces, m->arena) &&
		 !plan_now(m, err))
		keep_index(m, &id);
	identity_free(&id);
	if (!err->code && !m->planned)
		m->cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return err->code;
}

/* ---- life ---- */

int hfgguf_open(const char *path, const char *options, struct hfgguf_model **out, char *msg, size_t msg_size)
{
	struct hfgguf_model *m = calloc(1, sizeof(*m));
	struct err err = ERR_INIT;

	*out = NULL;
	if (m) {
		pthread_mutex_init(&m->plan_lock, NULL);
		m->cwd = -1;
	}
	if (!m)
		err_nomem(&err);
	else if (!model_prepare(m, path, options, &err))
		(void)(m->opt.index ? open_indexed(m, &err) : plan_now(m, &err));
	if (msg && msg_size)
		snprintf(msg, msg_size, "%s", err.code ? err.msg : m->warning);
	if (err.code)
		hfgguf_close(m);
	else
		*out = m;
	return err.code;
}

int hfgguf_start(struct hfgguf_model *m)
{
	cache_start(m->cache);
	if (!m->planned && !m->has_planner)
		m->has_planner = !pthread_create(&m->planner, NULL, plan_ahead, m);
	return 0;
}

void hfgguf_close(struct hfgguf_model *m)
{
	if (!m)
		return;
	if (m->has_planner)
		pthread_join(m->planner, NULL);
	if (m->cwd >= 0)
		close(m->cwd);
	model_free(m);
	pthread_mutex_destroy(&m->plan_lock);
	free(m);
}

/* ---- files ---- */

size_t hfgguf_count(const struct hfgguf_model *m)
{
	return m->faces.n;
}

const char *hfgguf_name(const struct hfgguf_model *m, size_t file)
{
	return file < m->faces.n ? m->faces.v[file].name : NULL;
}

uint64_t hfgguf_size(const struct hfgguf_model *m, size_t file)
{
	return file < m->faces.n ? m->faces.v[file].size_bytes : 0;
}

ssize_t hfgguf_find(const struct hfgguf_model *m, const char *name)
{
	for (size_t i = 0; i < m->faces.n; i++)
		if (!strcmp(m->faces.v[i].name, name))
			return (ssize_t)i;
	return -1;
}

int64_t hfgguf_mtime_ns(const struct hfgguf_model *m)
{
	return m->faces.mtime_ns;
}

const char *hfgguf_path(const struct hfgguf_model *m)
{
	return m->path;
}

char *hfgguf_log_text(struct hfgguf_model *m)
{
	return log_text(&m->log);
}

static const char *const property_names[] = { "arch", "class", "model", "options", "tensors", "type", "version", NULL };

const char *const *hfgguf_properties(void)
{
	return property_names;
}

const char *hfgguf_property(const struct hfgguf_model *m, size_t file, const char *name)
{
	const struct face *f = file < m->faces.n ? &m->faces.v[file] : NULL;

	if (!f)
		return NULL;
	if (!strcmp(name, "arch"))
		return f->arch;
	if (!strcmp(name, "class"))
		return f->class_name;
	if (!strcmp(name, "model"))
		return m->path;
	if (!strcmp(name, "options"))
		return m->options_text;
	if (!strcmp(name, "tensors"))
		return f->tensors;
	if (!strcmp(name, "type"))
		return f->type;
	if (!strcmp(name, "version"))
		return hfgguf_version();
	return NULL;
}
