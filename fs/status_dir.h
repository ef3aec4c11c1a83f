/*
 * The texts of the hidden directory .hfgguf/ at the root of a mount. It is reachable by name and never listed, so
 * that rsync and scanners for models see GGUF files only:
 *
 *	stats               counters, "name value" lines
 *	log                 latest warnings and errors
 *	plan.json           the plan of the file, or an array of all plans
 *	NAME.gguf.plan.json the plan of one file
 */
#ifndef FS_STATUS_DIR_H
#define FS_STATUS_DIR_H

#include "hfgguf/hfgguf.h"

#include <stdbool.h>

#define STATUS_DIR ".hfgguf"

/* Entries are numbered: the three fixed ones, then one plan for each file. */
enum { STATUS_STATS, STATUS_LOG, STATUS_PLAN, STATUS_FILE_PLAN };

size_t status_count(const struct hfgguf_model *m);
/* The entry of a name, or -1. */
ssize_t status_find(const struct hfgguf_model *m, const char *name);
/* Its name, malloc'ed; NULL when memory is out. */
char *status_name(const struct hfgguf_model *m, size_t entry);
/* True for the texts that differ from one read to the next. */
bool status_changes(size_t entry);
/* Its text now, malloc'ed; NULL when memory is out. */
char *status_text(struct hfgguf_model *m, size_t entry);

/* The JSON of the only file, or an array of all; malloc'ed, NULL when memory is out. */
char *status_all_plans(const struct hfgguf_model *m);

#endif
