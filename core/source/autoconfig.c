#include "core/source/autoconfig.h"

json *autoconfig(const json *raw, const char *path, struct err *err)
{
	(void)raw;
	(void)path;
	(void)err;
	return NULL;
}
