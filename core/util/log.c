#include "core/util/log.h"

#include "core/util/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void log_init(struct log *l)
{
	memset(l, 0, sizeof(*l));
	pthread_mutex_init(&l->lock, NULL);
}

void log_free(struct log *l)
{
	for (size_t i = 0; i < LOG_LINES; i++)
		free(l->lines[i]);
	pthread_mutex_destroy(&l->lock);
}

void log_add(struct log *l, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	char text[2048], when[32];
	struct tm tm;
	time_t now = time(NULL);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	buf_printf(&b, "%s %s", when, text);
	if (b.failed) {
		buf_free(&b);
		return;
	}
	pthread_mutex_lock(&l->lock);
	free(l->lines[l->next]);
	l->lines[l->next] = b.p;
	l->next = (l->next + 1) % LOG_LINES;
	l->total++;
	pthread_mutex_unlock(&l->lock);
}

char *log_text(struct log *l)
{
	struct buf b = BUF_INIT;

	buf_puts(&b, "");
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < LOG_LINES; i++) {
		const char *line = l->lines[(l->next + i) % LOG_LINES];

		if (line)
			buf_printf(&b, "%s\n", line);
	}
	pthread_mutex_unlock(&l->lock);
	if (b.failed)
		buf_free(&b);
	return b.p;
}
