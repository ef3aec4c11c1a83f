/* One program, two names: mount(8) calls it mount.hfgguf, people call it hfgguf. */
#include "fs/cli.h"
#include "fs/mount_main.h"

#include <string.h>

int main(int argc, char **argv)
{
	const char *name = argc > 0 ? argv[0] : "hfgguf", *slash = strrchr(name, '/');

	if (slash)
		name = slash + 1;
	return strncmp(name, "mount.", 6) ? cli_main(argc, argv) : mount_main(argc, argv);
}
