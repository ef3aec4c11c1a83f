/* One program, two names: mount(8) calls it mount.hfgguf, people call it hfgguf. */
#include "fs/cli.h"
#include "fs/mount_main.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * A caller may leave stdin, stdout or stderr closed. Files opened later must not get their numbers: what is written to
 * stderr would go there, and the background closes all three. As before, reading and writing them fails.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_PATH);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	const char *name = argc > 0 ? argv[0] : "hfgguf", *slash = strrchr(name, '/');

	fill_standard_descriptors();
	if (slash)
		name = slash + 1;
	return strncmp(name, "mount.", 6) ? cli_main(argc, argv) : mount_main(argc, argv);
}
