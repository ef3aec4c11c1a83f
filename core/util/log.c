#include "core/util/log.h"

#include "core/util/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOW_SECONDS = 10, WINDOW_LINES = 8 };

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

static void add(struct log *l, const char *text, time_t now)
{
	struct buf b = BUF_INIT;
	char when[32];
	struct tm tm;

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	buf_printf(&b, "%s %s", when, text);
	if (b.failed) {
		buf_free(&b);
		return;
	}
	free(l->lines[l->next]);
	l->lines[l->next] = b.p;
	l->next = (l->next + 1) % LOG_LINES;
	l->total++;
}

void log_add(struct log *l, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&l->lock);
	add(l, text, time(NULL));
	pthread_mutex_unlock(&l->lock);
}

void log_add_limited(struct log *l, const char *fmt, ...)
{
	char text[2048];
	time_t now = time(NULL);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&l->lock);
	if (now - l->window_start >= WINDOW_SECONDS) {
		char more[64];

		snprintf(more, sizeof(more), "%u more of these were left out", l->left_out);
		if (l->left_out)
			add(l, more, now);
		l->window_start = now;
		l->in_window = l->left_out = 0;
	}
	if (l->in_window < WINDOW_LINES) {
		l->in_window++;
		add(l, text, now);
	} else {
		l->left_out++;
	}
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
