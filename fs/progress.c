#include "fs/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.2
#define BAR 20

static double now(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t) ? 0 : (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *progress_bytes(char text[16], double bytes)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	int u = 0;

	for (; bytes >= 999.5 && u < 5; u++)
		bytes /= 1000;
	snprintf(text, 16, "%.*f %s", u == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2, bytes, unit[u]);
	return text;
}

static void left(char text[24], double seconds)
{
	long s = seconds < 360000 ? (long)(seconds + 0.5) : 359999;

	if (s >= 3600)
		snprintf(text, 24, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
	else
		snprintf(text, 24, "%ld:%02ld", s / 60, s % 60);
}

static void draw(const struct progress *p, uint64_t done, double at)
{
	double share = p->total ? (double)done / (double)p->total : 1;
	double rate = at > p->began ? (double)(done - p->first) / (at - p->began) : 0;
	char a[16], b[16], c[16], eta[24] = "-:--", bar[BAR + 1];
	struct winsize w;
	int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_col < 40 ? 80 : w.ws_col;
	int room = width - 75 + 16;

	for (int i = 0; i < BAR; i++)
		bar[i] = i < (int)(share * BAR) ? '#' : '.';
	bar[BAR] = 0;
	if (rate > 0)
		left(eta, (double)(p->total - done) / rate);
	fprintf(stderr, "\r%.*s [%s] %3.0f%% %s/%s %s/s %s\033[K", room < 12 ? 12 : room, p->what, bar, share * 100,
		progress_bytes(a, (double)done), progress_bytes(b, (double)p->total), progress_bytes(c, rate), eta);
	fflush(stderr);
}

void progress_begin(struct progress *p, const char *what, uint64_t done, uint64_t total)
{
	*p = (struct progress){ .what = what, .first = done, .total = total, .began = now(),
		.on = isatty(STDERR_FILENO) };
	if (p->on)
		draw(p, done, p->began);
}

void progress_update(struct progress *p, uint64_t done)
{
	double at;

	if (!p->on)
		return;
	at = now();
	if (at - p->drawn < REDRAW_SECONDS)
		return;
	p->drawn = at;
	draw(p, done, at);
}

void progress_end(struct progress *p)
{
	if (!p->on)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	p->on = false;
}
