/*
 * A file being written: under a hidden name beside its place until it is complete, then renamed. The hidden name
 * tells what it will be, so that a later run goes on with it only when that is the same file:
 *
 *	DIR/.NAME.KEY.hfgguf-part     KEY: 16 hex digits, a hash of size, time, model and options
 *
 * One writer at a time (a lock on the file).
 */
#ifndef FS_PART_H
#define FS_PART_H

#include "core/util/err.h"

#include <stddef.h>
#include <stdint.h>

struct part {
	char *dir, *temp, *dest; /* temp and dest are whole paths */
	int fd;
	uint64_t done, size; /* bytes in it; bytes it shall have */
};

/*
 * Opens or goes on with the part of dest and reserves the space it will need: a full disk is reported here, and
 * nothing is left behind. identity tells apart files that only look alike. Parts of the same name with another key are
 * removed. On failure nothing needs closing.
 */
int part_open(struct part *p, const char *dest, uint64_t size, const char *identity, struct err *err);

int part_write(struct part *p, const void *data, size_t n, struct err *err);

/* Empties it, to begin anew. */
int part_restart(struct part *p, struct err *err);

/* Makes the data durable, sets the time (ns since 1970) and gives the file its name, replacing what was there. */
int part_finish(struct part *p, int64_t mtime_ns, struct err *err);

/* Closes; an unfinished part stays for the next run, unless it is empty. */
void part_close(struct part *p);

#endif
