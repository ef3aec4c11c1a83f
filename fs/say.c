#include "fs/say.h"

#include "core/util/str.h"

#include <pthread.h>
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

static void emit(int priority, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

static void emit(int priority, const char *fmt, va_list ap)
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
	keep(text);
	if (say.syslog)
		syslog(priority, "%s", text);
	else
		fprintf(stderr, "hfgguf: %s\n", text);
	pthread_mutex_unlock(&say.lock);
}

void say_verror(const char *fmt, va_list ap)
{
	emit(LOG_ERR, fmt, ap);
}

void say_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(LOG_ERR, fmt, ap);
	va_end(ap);
}

void say_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(LOG_INFO, fmt, ap);
	va_end(ap);
}

void say_to_syslog(void)
{
	openlog("hfgguf", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	pthread_mutex_lock(&say.lock);
	say.syslog = true;
	pthread_mutex_unlock(&say.lock);
}

bool say_allowed(void)
{
	time_t now = seconds(CLOCK_MONOTONIC);
	unsigned left_out = 0;
	bool yes;

	pthread_mutex_lock(&say.lock);
	if (now - say.window >= WINDOW_SECONDS) {
		left_out = say.left_out;
		say.window = now;
		say.in_window = say.left_out = 0;
	}
	yes = say.in_window < BURST;
	if (yes)
		say.in_window++;
	else
		say.left_out++;
	pthread_mutex_unlock(&say.lock);
	if (left_out)
		say_error("%u more errors of this kind were not logged", left_out);
	return yes;
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
