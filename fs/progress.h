/* A progress bar on stderr, with rate and time left, when stderr is a terminal; nothing otherwise. */
#ifndef FS_PROGRESS_H
#define FS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;
	uint64_t first, total; /* bytes done before this run; bytes in all */
	double began, drawn;   /* seconds, monotonic */
	bool on;
};

/* `what` is borrowed and stands before the bar. */
void progress_begin(struct progress *p, const char *what, uint64_t done, uint64_t total);
void progress_update(struct progress *p, uint64_t done);
/* Removes the bar. */
void progress_end(struct progress *p);

/* "1.50 GB": decimal units, three digits. */
const char *progress_bytes(char text[16], double bytes);

#endif
