#include "fs/say.h"

#include "core/util/str.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#define N_KEPT 64
#define BURST 8
#define WINDOW_SECONDS 10

static struct {
	pthread_mutex_t lock;
	bool syslog;
	char *kept[N_KEPT];
	size_t n; /* messages ever kept; the next one goes to slot n % N_KEPT */
	time_t window;
	unsigned in_window, left_out;
} say = { .lock = PTHREAD_MUTEX_INITIALIZER };

static time_t seconds(clockid_t clock)
{
	struct timespec t;

	return clock_gettime(clock, &t) ? 0 : t.tv_sec;
}

static void keep(const char *text)
{
	time_t now = seconds(CLOCK_REALTIME);
	char when[32] = "";
	struct tm tm;
	char *line;

	if (gmtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (asprintf(&line, "%s %s", when, text) < 0)
		return;
	free(say.kept[say.n % N_KEPT]);
	say.kept[say.n++ % N_KEPT] = line;
}

static void emit(int priority, bool kept, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

static void emit(int priority, bool kept, const char *fmt, va_list ap)
{
	char text[4096];
	size_t end;

	vsnprintf(text, sizeof(text), fmt, ap);
	end = strlen(text);
	while (end && text[end - 1] == '\n')
		text[--end] = 0;
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = *p == '\t' ? ' ' : '?'; /* a path may hold a newline: still one line */
	pthread_mutex_lock(&say.lock);
	if (kept)
		keep(text);
	if (say.syslog)
		syslog(priority, "%s", text);
	else
		fprintf(stderr, "hfgguf: %s\n", text);
	pthread_mutex_unlock(&say.lock);
}

void say_verror(const char *fmt, va_list ap)
{
	emit(LOG_ERR, true, fmt, ap);
}

void say_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(LOG_ERR, true, fmt, ap);
	va_end(ap);
}

void say_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(LOG_INFO, true, fmt, ap);
	va_end(ap);
}

void say_to_syslog(void)
{
	openlog("hfgguf", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	pthread_mutex_lock(&say.lock);
	say.syslog = true;
	pthread_mutex_unlock(&say.lock);
}

/* Whether one more is let through; *left_out: how many were not since the last one. */
static bool is_allowed(unsigned *left_out)
{
	time_t now = seconds(CLOCK_MONOTONIC);
	bool yes;

	*left_out = 0;
	pthread_mutex_lock(&say.lock);
	if (now - say.window >= WINDOW_SECONDS) {
		*left_out = say.left_out;
		say.window = now;
		say.in_window = say.left_out = 0;
	}
	yes = say.in_window < BURST;
	if (yes)
		say.in_window++;
	else
		say.left_out++;
	pthread_mutex_unlock(&say.lock);
	return yes;
}

void say_repeated(const char *fmt, ...)
{
	unsigned left_out;
	va_list ap;

	if (!is_allowed(&left_out))
		return;
	if (left_out)
		say_error("%u more errors of this kind were not logged", left_out);
	va_start(ap, fmt);
	emit(LOG_ERR, false, fmt, ap);
	va_end(ap);
}

char *say_recent(void)
{
	struct buf b = BUF_INIT;

	pthread_mutex_lock(&say.lock);
	for (size_t i = say.n > N_KEPT ? say.n - N_KEPT : 0; i < say.n; i++)
		if (say.kept[i % N_KEPT])
			buf_printf(&b, "%s\n", say.kept[i % N_KEPT]);
	pthread_mutex_unlock(&say.lock);
	if (!b.failed && !b.p)
		buf_puts(&b, "");
	if (b.failed)
		buf_free(&b);
	return b.p;
}
