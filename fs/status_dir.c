#include "fs/status_dir.h"

#include "fs/say.h"

#include "core/util/cleanup.h"
#include "core/util/str.h"

#include <string.h>

#define PLAN_SUFFIX ".plan.json"

static const char *const fixed[] = { "stats", "log", "plan.json" };

size_t status_count(const struct hfgguf_model *m)
{
	return STATUS_FILE_PLAN + hfgguf_count(m);
}

ssize_t status_find(const struct hfgguf_model *m, const char *name)
{
	size_t n = strlen(name), tail = strlen(PLAN_SUFFIX);
	autofree char *file = NULL;
	ssize_t i;

	for (i = 0; i < STATUS_FILE_PLAN; i++)
		if (!strcmp(name, fixed[i]))
			return i;
	if (n <= tail || strcmp(name + n - tail, PLAN_SUFFIX))
		return -1;
	file = strndup(name, n - tail);
	i = file ? hfgguf_find(m, file) : -1;
	return i < 0 ? -1 : STATUS_FILE_PLAN + i;
}

char *status_name(const struct hfgguf_model *m, size_t entry)
{
	char *name;

	if (entry < STATUS_FILE_PLAN)
		return strdup(fixed[entry]);
	return asprintf(&name, "%s%s", hfgguf_name(m, entry - STATUS_FILE_PLAN), PLAN_SUFFIX) < 0 ? NULL : name;
}

bool status_changes(size_t entry)
{
	return entry == STATUS_STATS || entry == STATUS_LOG;
}

char *status_all_plans(const struct hfgguf_model *m)
{
	struct buf all = BUF_INIT;
	size_t n = hfgguf_count(m);

	if (n == 1)
		return hfgguf_plan_json(m, 0);
	buf_putc(&all, '[');
	for (size_t i = 0; i < n && !all.failed; i++) {
		autofree char *one = hfgguf_plan_json(m, i);

		buf_puts(&all, i ? ",\n" : "\n");
		if (one)
			buf_add(&all, one, strlen(one) - (one[0] && one[strlen(one) - 1] == '\n'));
		else
			all.failed = true;
	}
	buf_puts(&all, "\n]\n");
	if (all.failed)
		buf_free(&all);
	return all.p;
}

/* The core's messages (what it met in the model), then the front end's (reads that failed). */
static char *log_text(struct hfgguf_model *m)
{
	autofree char *core = hfgguf_log_text(m), *own = say_recent();
	struct buf both = BUF_INIT;

	if (!core || !own)
		return NULL;
	buf_puts(&both, core);
	buf_puts(&both, own);
	if (both.failed)
		buf_free(&both);
	return both.p;
}

char *status_text(struct hfgguf_model *m, size_t entry)
{
	switch (entry) {
	case STATUS_STATS: return hfgguf_stats_text(m);
	case STATUS_LOG: return log_text(m);
	case STATUS_PLAN: return status_all_plans(m);
	}
	return hfgguf_plan_json(m, entry - STATUS_FILE_PLAN);
}
