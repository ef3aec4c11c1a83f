/* The latest messages of a running process, for status files. Thread safe. */
#ifndef CORE_UTIL_LOG_H
#define CORE_UTIL_LOG_H

#include <pthread.h>
#include <stddef.h>

enum { LOG_LINES = 256 };

struct log {
	pthread_mutex_t lock;
	char *lines[LOG_LINES]; /* a ring; next is the oldest */
	size_t next, total;
	long window_start; /* of log_add_limited, seconds */
	unsigned in_window, left_out;
};

void log_init(struct log *l);
void log_free(struct log *l);
/* Adds "time message"; drops the oldest. Out of memory: the message is lost. */
void log_add(struct log *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for what may come by the thousand: 8 lines in 10 seconds, then one that says how many were left out. */
void log_add_limited(struct log *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* All lines, oldest first, malloc'ed; NULL when memory is out. */
char *log_text(struct log *l);

#endif
